#include "kernels/gemm/plan/few_rows.h"

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/b_in_place.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// One row, and a few if B is larger, read B at the speed of memory if they read it in its order (few_rows-inl.h).
constexpr std::int64_t kLeastBForFewRows = 256 * 1024;  // for one row; two rows use what is in L2 twice
constexpr std::int64_t kLeastRowBytesForFewRows = 1024;
constexpr std::int64_t kLeastKForFewRows = 128;
// Eight rows of f32, four of f64; of 16-bit floats, which each of them widens anew, four.
constexpr std::int64_t kMostBytesInTurns = 32;
constexpr std::int64_t kMostRowsThatFetch = 4;  // the same, of any type that is not widened, if lines are fetched
// The same where a vector is half a line, and there are fewer registers: a tile that goes down all of k is narrower.
// But for products of several instructions L2 is near enough, unless columns are many.
constexpr std::int64_t kLeastBForOneShortRow = 64 * 1024;
constexpr std::int64_t kLeastKForShortRows = 24;
constexpr std::int64_t kColumnsOfRowByHalves = 256;
// 16-bit floats are widened more quickly so than by tiles: of so many columns for each row, or of fewer if they are
// twice as many as there are k to load and store the sums for.
constexpr std::int64_t kColumnsOfWidenedRow = 128, kFewestColumnsOfWidenedRow = 40;
// More rows than two of f32 do so where B's rows meet in few sets of the caches, so that packing is what they would do
// else, or B comes from afar; and as many as there may be, if B is so many times as large as L2. But where tiles fetch
// what they are about to read (near_b.h), a B that is no wider than long leaves them fewer sums to pass over.
constexpr std::int64_t kTwoSumsOfF32Bytes = 8;
constexpr std::int64_t kL2SizesOfLargeB = 3;
// Rows of Y beyond one tile, which would have B packed: two passes over one whose rows meet in few sets, with such rows
// and no fewer columns than rows, from the far end of the last-level cache take 0.63 to 0.87 of the time on Zen 3, and
// from memory 0.9 to 1. More rows load and store sums, and read B, too often; others gain nothing.
constexpr std::int64_t kLeastRowBytesForTwoPasses = 4096;
// One row where hardware follows one run best: with more sums, or less of B, tiles are faster.
constexpr std::int64_t kMostRowBytesInOrder = 16 * 1024;
constexpr std::int64_t kLeastKInOrder = 16;
constexpr std::int64_t kLeastBInOrder = 32 * 1024;

/// A few rows more than few_rows-inl.h computes at a time, and a B from memory: to follow it in its order is left to
/// hardware, and to tiles its other rows would be fetched too late.
bool takes_turns_at_far_b(const Problem& p, const Kernels& kernels) {
  if (!leaves_b_to_hardware(kernels) || kernels.multiply_few_rows == nullptr) return false;
  const std::int64_t most = fetches_next_rows_of_b(p, kernels)
                                ? kMostRowsThatFetch
                                : kMostBytesInTurns / (kernels.element_bytes == 2 ? 8 : kernels.accumulator_bytes);
  if (fetches_rows_of_b(p, kernels)) return false;
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  return p.m <= most && p.k >= kLeastKForFewRows && row_bytes >= kLeastRowBytesForFewRows &&
         row_bytes * p.k >= last_level_cache_bytes();
}

/// In few sets of the caches.
bool rows_of_b_meet(const Problem& p, const Kernels& kernels) {
  return bytes_between_rows(p, kernels) % (kAliasBytes / 2) == 0;
}

bool takes_widened_rows(const Problem& p) {
  return p.n >= kColumnsOfWidenedRow * p.m || (p.n >= kFewestColumnsOfWidenedRow * p.m && 2 * p.k <= p.n);
}

/// One row, whose sums stay in the first-level cache while B passes as one run. Of 16-bit floats, which are widened on
/// their way, it is not faster.
bool takes_rows_in_order(const Problem& p, const Kernels& kernels) {
  if (p.m > 1 || kernels.element_bytes < 4 || kernels.multiply_few_rows == nullptr) return false;
  if (!follows_one_run_best(kernels)) return false;
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  return row_bytes >= kLeastRowBytesForFewRows && row_bytes <= kMostRowBytesInOrder && p.k >= kLeastKInOrder &&
         row_bytes * p.k >= kLeastBInOrder && row_bytes * p.k <= last_level_cache_bytes() / 2;
}

/// Two rows or more, or one of 64-bit integers and a large B: hardware has them ready for tiles, in 0.6 to 1.0 of the
/// time on Zen 5. It does not follow rows that meet, and those of 16 bits each row of Y would widen anew.
bool come_sooner_to_tiles(const Problem& p, const Kernels& kernels) {
  if (!follows_one_run_best(kernels) || kernels.element_bytes < 4 || rows_of_b_meet(p, kernels)) return false;
  const bool is_one_by_halves = p.m == 1 && !is_float(p.type) && kernels.element_bytes == 8;
  const bool is_large = p.n * p.k * kernels.element_bytes > kL2SizesOfLargeB * second_level_cache_bytes();
  return p.m > 1 || (is_one_by_halves && is_large);
}

}  // namespace

bool takes_few_rows(const Problem& p, const Kernels& kernels) {
  if (come_sooner_to_tiles(p, kernels)) return false;
  if (takes_rows_in_order(p, kernels)) return true;
  if (p.m > kernels.most_few_rows) return takes_turns_at_far_b(p, kernels);
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  if (kernels.has_short_vectors && kernels.widens()) return takes_widened_rows(p);
  const bool is_by_halves = !is_float(p.type) && kernels.element_bytes == 8;
  if (p.m == 1 && kernels.has_short_vectors && is_by_halves && p.n >= kColumnsOfRowByHalves) return true;
  const std::int64_t least_k = kernels.has_short_vectors ? kLeastKForShortRows : kLeastKForFewRows;
  if (row_bytes < kLeastRowBytesForFewRows || p.k < least_k) return false;
  const std::int64_t for_one = kernels.has_short_vectors && !is_by_halves ? kLeastBForOneShortRow : kLeastBForFewRows;
  if (p.m == 1) return row_bytes * p.k >= for_one;
  const bool rows_meet = rows_of_b_meet(p, kernels);
  if (p.m * kernels.accumulator_bytes <= kTwoSumsOfF32Bytes) {
    // Two rows of f32 have it sooner in tiles, where hardware sees to that; or it does from most of the caches' sets.
    const bool may_be_followed = leaves_b_to_hardware(kernels) || (kernels.has_short_vectors && !rows_meet);
    const bool is_followed = may_be_followed && p.type == ElementType::f32 && comes_from_caches(p, kernels);
    return !is_followed && row_bytes * p.k >= second_level_cache_bytes() * 5 / 8;
  }
  if (rows_meet) return row_bytes * p.k >= second_level_cache_bytes() * 5 / 4;
  if (has_short_floats(kernels) && !comes_from_caches(p, kernels)) return true;
  const bool suits_tiles = has_short_floats(kernels) && p.k >= p.n;
  return p.m == kernels.most_few_rows && !suits_tiles &&
         row_bytes * p.k >= kL2SizesOfLargeB * second_level_cache_bytes();
}

bool reads_b_twice(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!has_short_floats(kernels) || workers > 1 || p.m <= kernels.mr || p.m > 2 * kernels.most_few_rows) return false;
  if (p.n * kernels.element_bytes < kLeastRowBytesForTwoPasses || p.k > p.n) return false;
  if (!rows_of_b_meet(p, kernels) || comes_from_caches(p, kernels)) return false;
  Problem half = p;
  half.m = ceil_div(p.m, 2);
  return takes_few_rows(half, kernels);
}

std::int64_t rows_of_b(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (p.m > 1 || !leaves_b_to_hardware(kernels)) return kRowsOfB;
  // What a worker reads of each row is no run of memory that goes on in the next one.
  if (workers == 1 && takes_rows_in_order(p, kernels)) return 1;
  const bool is_f32_or_f64 = is_float(p.type) && kernels.element_bytes == kernels.accumulator_bytes;
  // In few sets of the first-level cache: 1.05 to 1.1 times as fast on Zen 4 where they do not.
  const bool rows_meet = p.b_row_step * kernels.element_bytes % (kAliasBytes / 2) == 0;
  return is_f32_or_f64 && !rows_meet ? kManyRowsOfB : kRowsOfB;
}

}  // namespace binet::kernels::gemm
