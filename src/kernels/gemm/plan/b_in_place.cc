#include "kernels/gemm/plan/b_in_place.h"

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// So few rows read B in place, the next panel on its way to the cache; and so many where hardware helps with that.
constexpr std::int64_t kFewRows = 128;
constexpr std::int64_t kFewRowsWithHardware = 768;
// More rows than a tile has, but no more than two low ones of three vectors: those pass over B one after the other.
constexpr std::int64_t kMostRowsOfTwoLowTiles = 16;
// Of the last-level cache: so much B they find there in time. A half was better only while nobody else used the cache.
constexpr std::int64_t kPartForLowTiles = 8;
// Of a panel: it stays in the first-level cache; or leaves it, where hardware helps, rather than that sums are passed
// over again.
constexpr std::int64_t kPanelBytes = 32 * 1024;
constexpr std::int64_t kPanelBytesWithHardware = 48 * 1024;
// So much of B stays in L2 between two tiles of rows, and is read in place by any number of them.
constexpr std::int64_t kNearBBytes = 1024 * 1024;
// Of B beyond L2, so many pages at a time, as many as A has rows. With those of A and of sums they stay in the
// first-level TLB, or nearly so: few tiles have little else to do than to wait for B, and many pass over sums.
constexpr std::int64_t kLeastRowBytesOfFarB = 1536;
constexpr std::int64_t kLeastPagesOfFarB = 48;
constexpr std::int64_t kMostPagesOfFarB = 96;
// For more than so many rows B is packed where fewer rows of it than these may come at a time, as sums are then passed
// over too often, or where its rows do not begin with a line, as each tile then loads two lines for each vector.
constexpr std::int64_t kFewRowsForAnyFarB = 64;
constexpr std::int64_t kLeastFarK = 48;
// Of a nearer B: two lines for each k, where rows do not begin with one, leave the first-level cache before the next
// tile reads the second one again. Three rows have so wide tiles that they hardly share any.
constexpr std::int64_t kLeastKToShareLinesFor = 160;
constexpr std::int64_t kLeastRowsToShareLinesFor = 4;

// Where a vector is half a line, and lines of B are read twice as often, reading it in place pays for fewer rows and
// less of it, the fewer the more of its rows meet in the same sets of the caches. Rows, in tiles or by themselves.
constexpr std::int64_t kFewRowsOfShortVectors = 64, kFewRowsOfShortVectorsOffLines = 45;
constexpr std::int64_t kTilesForLargeB = 8;
// Of the last-level cache: more of B does not come in time for several tiles, however its rows lie.
constexpr std::int64_t kPartForTiles = 2;
constexpr std::int64_t kFewTilesOfFarB = 4;
constexpr std::int64_t kFewTilesOfRowsThatMeet = 3;
constexpr std::int64_t kFewTilesOfRowsThatNearlyMeet = 2;  // as each vector is two lines
// Rows that nearly meet, by so many bytes, leave the first-level cache as those do that meet (1.2 to 2.7 times the time
// on Zen 3 of rows that do not); a few tiles of them gain from passing over sums only if it is one element.
constexpr std::int64_t kLittle = 12;
// There a panel is one line of each row of B: no more of it than that would stay near, and sums are passed over less
// often than if it had to. Rows on more pages, which are a power of two apart, too, would leave the TLB.
constexpr std::int64_t kFarKOfShortVectors = 192;
constexpr std::int64_t kNearBBytesOfShortVectors = 128 * 1024;
// More of it for so many rows of so short a k.
constexpr std::int64_t kManyRowsOfShortK = 640;
constexpr std::int64_t kShortKOfRowsOfB = 64;

/// Between rows of B as sets see them, if it is read in vectors of half a line: `little` more or less than a distance
/// at which rows meet is that. With other vectors that has not been measured, and what is widened gains nothing.
std::int64_t bytes_apart(const Problem& p, const Kernels& kernels, std::int64_t little) {
  const bool matters = kernels.has_short_vectors && !kernels.widens();
  return as_sets_see(p.b_row_step * kernels.element_bytes, matters ? little : 0);
}

/// B comes in time from anywhere, for tiles that have all of k at once. With long vectors hardware sees to that, unless
/// low tiles take it from far more than once. With short ones rows of B must follow each other in all sets of the
/// caches, for hardware or as near_b.h says; and there are more tiles, and more sums to pass over again for each range
/// of k.
bool comes_by_itself(const Problem& p, const Kernels& kernels) {
  if (leaves_b_to_hardware(kernels)) {
    const bool has_low_tiles = is_float(p.type) && p.m > kernels.mr && p.m <= kMostRowsOfTwoLowTiles;
    return !has_low_tiles || p.n * p.k * kernels.element_bytes <= last_level_cache_bytes() / kPartForLowTiles;
  }
  if (!kernels.has_short_vectors) return false;
  const bool are_few = p.m <= kFewTilesOfFarB * kernels.mr;
  const std::int64_t row_bytes = bytes_apart(p, kernels, are_few ? kernels.element_bytes : kLittle);
  if (p.n * p.k * kernels.element_bytes <= 2 * second_level_cache_bytes()) return row_bytes % kAliasBytes != 0;
  const bool is_from_memory = p.n * p.k * kernels.element_bytes > last_level_cache_bytes() / kPartForTiles;
  return row_bytes % (kAliasBytes / 2) != 0 && p.m <= (is_from_memory ? 1 : kTilesForLargeB) * kernels.mr;
}

/// Rows of B from beyond L2 that stay there while the next panel comes, and for the tiles below the first.
std::int64_t rows_that_stay(const Problem& p, const Kernels& kernels) {
  const std::int64_t row_bytes = bytes_apart(p, kernels, kLittle);
  const std::int64_t pages = std::clamp(p.m, kLeastPagesOfFarB, kMostPagesOfFarB);
  const std::int64_t in_tlb = pages * kPageBytes / std::min(row_bytes, kPageBytes);
  // Rows a multiple of a power of two apart meet in the same sets, of 16 lines each in the L2 of most CPUs.
  const std::int64_t l2_bytes = second_level_cache_bytes();
  const std::int64_t sets_apart = std::min(row_bytes & -row_bytes, l2_bytes / 16);
  const std::int64_t in_l2 = l2_bytes / sets_apart * 3 / 4;
  return std::min({in_tlb, in_l2, kernels.kc});
}

std::int64_t rows_for_short_vectors(const Problem& p, const Kernels& kernels) {
  const bool has_whole_lines = p.b_row_step * kernels.element_bytes % kLineBytes == 0;
  if (!is_b_far(p, kernels)) return has_whole_lines ? kFewRowsOfShortVectors : kFewRowsOfShortVectorsOffLines;
  // From so far all but one tile find little of what the first one has read of rows that meet: 0.55 to 0.85 of the time
  // with strips that are packed in the order of memory.
  if (!comes_from_caches(p, kernels)) return kernels.mr;
  const bool nearly_meet = !has_whole_lines && bytes_between_rows(p, kernels) % kAliasBytes == 0;
  if (nearly_meet) return kFewTilesOfRowsThatNearlyMeet * kernels.mr;
  return (rows_that_stay(p, kernels) < kLeastFarK ? kFewTilesOfRowsThatMeet : kFewTilesOfFarB) * kernels.mr;
}

/// So many take less time than packing B costs.
std::int64_t rows_to_read_b_for(const Problem& p, const Kernels& kernels) {
  if (kernels.has_short_vectors) return rows_for_short_vectors(p, kernels);
  if (leaves_b_to_hardware(kernels)) return kFewRowsWithHardware;
  if (!is_b_far(p, kernels)) return kFewRows;
  const bool has_whole_lines = p.b_row_step * kernels.element_bytes % kLineBytes == 0;
  return has_whole_lines && rows_that_stay(p, kernels) >= kLeastFarK ? kFewRows : kFewRowsForAnyFarB;
}

/// So short a k that rows of B are few streams, which hardware prefetchers follow, and a product goes by tiles of three
/// rows and four vectors: packing pays for many rows only.
bool packing_pays_late(const Problem& p, const Kernels& kernels) {
  return has_short_floats(kernels) && p.k <= kShortKOfRowsOfB && p.m <= kManyRowsOfShortK;
}

}  // namespace

std::int64_t bytes_between_rows(const Problem& p, const Kernels& kernels) { return bytes_apart(p, kernels, kLittle); }

bool suits_in_place(const Problem& p, const Kernels& kernels) {
  const std::int64_t most = !kernels.has_short_vectors      ? kNearBBytes
                            : packing_pays_late(p, kernels) ? second_level_cache_bytes() / 2
                                                            : kNearBBytesOfShortVectors;
  const std::int64_t stays = bytes_between_rows(p, kernels) % kAliasBytes == 0 ? most / 2 : most;
  return p.m <= rows_to_read_b_for(p, kernels) || p.n * p.k * kernels.element_bytes <= stays;
}

bool is_b_far(const Problem& p, const Kernels& kernels) {
  // Short rows lie one behind the other, and come by themselves.
  if (p.b_row_step * kernels.element_bytes < kLeastRowBytesOfFarB || comes_by_itself(p, kernels)) return false;
  return p.n * p.k * kernels.element_bytes > second_level_cache_bytes() / 2 && p.k > rows_that_stay(p, kernels);
}

bool shares_lines_of_b(const Problem& p, const Kernels& kernels) {
  const bool computes_quickly = is_float(p.type) || kernels.element_bytes < 8;
  if (!kernels.has_short_vectors || kernels.widens() || !computes_quickly) return false;
  if (p.m < kLeastRowsToShareLinesFor || p.m > kernels.mr || p.n <= kernels.nr || p.k < kLeastKToShareLinesFor)
    return false;
  const std::int64_t row_bytes = p.b_row_step * kernels.element_bytes;
  if (row_bytes < kLeastRowBytesOfFarB || row_bytes > kPageBytes || row_bytes % kLineBytes == 0) return false;
  return p.n * p.k * kernels.element_bytes <= second_level_cache_bytes() &&
         4 * p.k > 5 * rows_of_shared_lines(p, kernels);
}

std::int64_t rows_of_shared_lines(const Problem& p, const Kernels& kernels) { return rows_that_stay(p, kernels); }

std::int64_t rows_of_far_b(const Problem& p, const Kernels& kernels) {
  return kernels.has_short_vectors ? std::min(kFarKOfShortVectors, kernels.kc) : rows_that_stay(p, kernels);
}

std::int64_t rows_of_near_b(const Problem& p, const Kernels& kernels) {
  if (!leaves_b_to_hardware(kernels)) return kPanelBytes / (kernels.nr * kernels.element_bytes);
  if (p.k <= kernels.kc) return kernels.kc;
  return std::min(kernels.kc, kPanelBytesWithHardware / (kernels.nr * kernels.element_bytes));
}

}  // namespace binet::kernels::gemm
