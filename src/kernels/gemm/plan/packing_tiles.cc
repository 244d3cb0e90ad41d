#include "kernels/gemm/plan/packing_tiles.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/b_in_place.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// With vectors as long as lines: a B that stays in the first-level cache, or nearly so, is as near where it lies, and
// one beyond L2 comes too late; with few rows and a short k a product is better done at once.
constexpr std::int64_t kLeastB = 64 * 1024;
constexpr std::int64_t kMostB = 1024 * 1024;
constexpr std::int64_t kLeastK = 128;
constexpr std::int64_t kManyRows = 128;
constexpr std::int64_t kShortColumnBytes = 512;
// A larger one on AMD's CPUs (measured on Zen 5), for up to so many rows; for more it is packed as a whole. Of rows
// that meet in few sets of the caches tiles find little where the first one has left it: 0.65 to 1.0 of the time, of
// the more of it the more rows of Y then find it. Rows that meet in twice as many sets, or lie off lines, so that each
// vector is two of them, repay it for more rows: 0.87 to 1.0.
constexpr std::int64_t kMostRowsForLargeB = 768;
constexpr std::int64_t kFewestRowsForThoseThatMeet = 20;
constexpr std::int64_t kLeastBThatMeets = 640 * 1024, kBThatMeetsForEachRow = 128 * 1024;
constexpr std::int64_t kFewestRowsForLargeBOffLines = 60;
// Vectors of half a line: B is packed by tiles of the most rows alone, which so many rows consist of (measured on Zen
// 3: 0.85 to 1.0 of the time of strips that are packed before, 0.65 to 1.05 of that of reading B where it lies).
constexpr std::int64_t kFewestRows = 26, kLeastKBytes = 800;
// Where it would else be read in place: so many rows, and so many times the second-level cache.
constexpr std::int64_t kFewestRowsForPlace = 30, kMostRowsForPlace = 64;
constexpr std::int64_t kLeastBOffLines = 2, kLeastBOfLines = 5;

/// A product with so short a k goes by blocks of rows (plan_at_once.cc), which meet all of a B that stays near: with
/// units as wide as vectors they take less time than to place tiles as panels want it.
bool has_short_columns_of_near_b(const Problem& p, const Kernels& kernels) {
  if (!leaves_b_to_hardware(kernels) || has_units_of_half_vectors()) return false;
  const std::int64_t column_bytes = p.k * kernels.element_bytes;
  return column_bytes <= kShortColumnBytes && p.n * column_bytes <= second_level_cache_bytes() / 2;
}

/// A B beyond what is packed for its size.
bool repays_packing_large_b(const Problem& p, const Kernels& kernels, std::int64_t bytes, std::int64_t row_bytes) {
  if (!leaves_b_to_hardware(kernels) || p.m > kMostRowsForLargeB) return false;
  if (row_bytes % kLineBytes != 0) return bytes > kMostB && p.m >= kFewestRowsForLargeBOffLines;
  if (row_bytes % kAliasBytes == 0 && bytes > kLeastBThatMeets)
    return p.m >= kFewestRowsForThoseThatMeet && bytes <= p.m * kBThatMeetsForEachRow;
  return row_bytes % (kAliasBytes / 2) == 0 && bytes > kMostB / 2 && p.m > kManyRows;
}

/// Rather than to read B in place. Of rows that are whole lines hardware, or fetches, bring enough from memory, and
/// from nearby.
bool gains_by_high_tiles(const Problem& p, const Kernels& kernels) {
  if (!packs_strips_in_tiles(p, kernels) || p.m < kFewestRowsForPlace || p.m > kMostRowsForPlace) return false;
  const std::int64_t bytes = p.n * p.k * kernels.element_bytes;
  if (p.b_row_step * kernels.element_bytes % kLineBytes != 0)
    return bytes > kLeastBOffLines * second_level_cache_bytes();
  return bytes > kLeastBOfLines * second_level_cache_bytes() && comes_from_caches(p, kernels);
}

}  // namespace

bool packs_far_b_in_tiles(const Problem& p, const Kernels& kernels) {
  if (!leaves_b_to_hardware(kernels) || kernels.pack_and_multiply == nullptr || p.b_column_step != 1) return false;
  return p.b_row_step * kernels.element_bytes % (kAliasBytes / 2) == 0 && is_b_far(p, kernels);
}

bool packs_strips_in_tiles(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || kernels.pack_and_multiply == nullptr || p.b_column_step != 1) return false;
  if (p.m < kFewestRows || p.k * kernels.element_bytes < kLeastKBytes) return false;
  if (many_rows_meet(p.b_row_step * kernels.element_bytes)) return false;
  return kernels.element_bytes == 4 || p.m <= kMostRowsForPlace || comes_from_caches(p, kernels);
}

bool should_pack_in_tiles(const Problem& p, const Kernels& kernels) {
  if (kernels.pack_and_multiply == nullptr || p.b_column_step != 1) return false;
  if (kernels.has_short_vectors) return gains_by_high_tiles(p, kernels);
  if (packs_far_b_in_tiles(p, kernels)) return true;
  if (has_short_columns_of_near_b(p, kernels)) return false;
  const std::int64_t bytes = p.n * p.k * kernels.element_bytes;
  const std::int64_t row_bytes = p.b_row_step * kernels.element_bytes;
  if (repays_packing_large_b(p, kernels, bytes, row_bytes)) return true;
  if (row_bytes % kLineBytes == 0)  // read as well in place, unless very often
    return p.m > kManyRows && bytes > kLeastB && bytes <= kMostB / 2;
  if (bytes > kMostB) return false;
  return bytes > kLeastB / 2 && p.m >= (p.k < kLeastK ? kManyRows : 2 * kernels.mr);
}

}  // namespace binet::kernels::gemm
