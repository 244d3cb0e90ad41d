#include "kernels/gemm/plan/swap.h"

#include <algorithm>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/plan/swap_cost.h"
#include "kernels/gemm/plan/turned_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// One column: for so few elements of A tiles that are mostly empty are done before anything is turned. With vectors of
// half a line fewer rows do that if K is short, or leaves more of a second square empty than it fills.
constexpr std::int64_t kLeastElementsOfAToSwapColumnFor = 500;
constexpr std::int64_t kLeastKToSwapColumnFor = 8;
constexpr std::int64_t kLeastRowsToSwapColumnFor = 32;
// With few columns; with more of them, as tiles waste less of a vector; with rows that fill hardly more than one, but
// two tiles, each as long as its chains.
constexpr std::int64_t kLeastKToSwapFor = 8;
constexpr std::int64_t kColumnsToSwapSoonFor = 5;
constexpr std::int64_t kLeastKToSwapMoreFor = 16;
constexpr std::int64_t kLeastKToSwapFewRowsFor = 200;
// More columns of f32 and f64, whose tiles end with vectors that are turned: so many multiply-adds are saved for each
// element, and beyond a vector of columns such a part of all of them, or a larger one if rows are few. An A of such a
// part of the last-level cache is read better as the operand that streams past, if it does so for no more columns.
constexpr std::int64_t kLeastSavedForElement = 32;
constexpr std::int64_t kLeastSavedPart = 5;
constexpr std::int64_t kLeastSavedPartOfFewRows = 2;
constexpr std::int64_t kFewRows = 256;
constexpr std::int64_t kMostColumnsToReadAFor = 256;

// On Intel's CPUs a few vectors of rows that are not all whole must repay it that the last of them are packed as
// columns of Y^T: so many elements of A for each column of Y, fewer beside more columns, more if these are a tile of
// seven rows or eight and the last of four vectors is packed.
constexpr std::int64_t kMostVectorsToRepayPacking = 4;
constexpr std::int64_t kMoreColumns = 5, kColumnsOfHighTile = 7;
constexpr std::int64_t kLeastElementsOfAForColumn = 420, kLeastElementsOfAForMoreColumns = 110;
constexpr std::int64_t kLeastElementsOfAForHighTile = 800;

// Products of two transposed operands; with more columns than rows, which fill vectors better, fewer of them.
constexpr std::int64_t kLeastKToSwapBothFor = 256;
constexpr std::int64_t kMostSumsForEachK = 8;
constexpr std::int64_t kMostSumsOfWideY = 320;
constexpr std::int64_t kFewestRowsAndColumnsToTurnBoth = 5;

// Rows that a transposed B is not turned for, but swapped with. Fewer turn it while they multiply
// (turned_squares-inl.h).
constexpr std::int64_t kLeastRowsToSwapBFor = 2;
constexpr std::int64_t kMostRowsToSwapBFor = 56;
constexpr std::int64_t kLeastKToSwapBFor = 128;
constexpr std::int64_t kMostEmptyLanes = 3;
constexpr std::int64_t kMostEmptyLanesForNearB = 1;

/// Lanes that may stay empty where units are as wide as vectors, so that halves of them are no faster. Squares of f64
/// take so long to turn that hardly any row is too few; columns of f32 that meet in one set of a cache are read by one
/// vector of rows alone.
bool fills_whole_vectors(const Problem& p, const Kernels& kernels, bool is_near) {
  const std::int64_t empty = round_up(p.m, kernels.lanes) - p.m;
  if (p.type == ElementType::f64) return !is_near || (empty <= kernels.lanes / 2 && p.m <= 4 * kernels.lanes);
  const bool columns_meet = p.b_column_step * kernels.element_bytes % kAliasBytes == 0;
  return empty <= kernels.lanes / 4 && (p.m <= kernels.lanes || (!is_near && !columns_meet));
}

/// Rows fill vectors, whole ones or halves, so that a transposed B is read where it lies, an element for each vector,
/// instead of being turned. A few lanes that stay empty cost less than that; from L2 a B is turned sooner.
bool swaps_transposed_b(const Problem& p, const Kernels& kernels, const Target& target) {
  if (!kernels.has_long_vectors() || p.b_column_step == 1 || p.k < kLeastKToSwapBFor) return false;
  // On Intel's CPUs rows that fill vectors are swapped with all the same.
  if (leaves_b_to_hardware(kernels) && turns_quickly(p, kernels)) return false;
  if (p.type != ElementType::f32 && p.type != ElementType::f64) return false;
  if (p.m < kLeastRowsToSwapBFor || p.m > kMostRowsToSwapBFor || p.n < 2 * p.m || p.n <= kMostRowsToSwapBFor)
    return false;
  const std::int64_t bytes = p.n * p.k * kernels.element_bytes;
  const bool is_near = bytes <= second_level_cache_bytes();
  if (!has_units_of_half_vectors(target) && bytes <= last_level_cache_bytes())
    return fills_whole_vectors(p, kernels, is_near);
  const std::int64_t empty = round_up(p.m, kernels.lanes / 2) - p.m;
  return empty <= (is_near ? kMostEmptyLanesForNearB : kMostEmptyLanes);
}

/// Whether enough of a vector is saved where rows of Y fill it instead of columns: per row and column.
bool saves_enough(const Problem& p, const Kernels& kernels, double saved) {
  if (static_cast<double>(p.k) * saved < kLeastSavedForElement) return false;
  if (p.n < kernels.lanes) return true;
  return saved * static_cast<double>(p.m < kFewRows ? kLeastSavedPartOfFewRows : kLeastSavedPart) >= 1;
}

/// The part of the columns' vectors that is empty, in columns.
double empty_part(std::int64_t n, const Kernels& kernels) {
  return static_cast<double>(round_up(n, kernels.lanes)) / static_cast<double>(n) - 1;
}

/// Where the tiles of Y^T become Y by vectors (FinishTurned() in finish-inl.h).
bool has_long_vectors_of_floats(const Problem& p, const Kernels& kernels) {
  return kernels.has_long_vectors() && (p.type == ElementType::f32 || p.type == ElementType::f64);
}

/// Columns of Y leave more of their vectors empty than rows, or A is so large that it is better read as it lies.
bool swaps_transposed_a(const Problem& p, const Kernels& kernels) {
  if (!has_long_vectors_of_floats(p, kernels) || p.m < 2 * kernels.lanes) return false;
  const bool is_far = 8 * p.m * p.k * kernels.element_bytes > 3 * last_level_cache_bytes();
  if (is_far && p.n <= kMostColumnsToReadAFor) return true;
  return saves_enough(p, kernels, empty_part(p.n, kernels) - empty_part(p.m, kernels));
}

/// Few columns beside a small transposed A, whose rows fill no whole vectors.
bool is_too_small_to_swap(const Problem& p, const Kernels& kernels) {
  if (!is_intel_with_avx512() || !has_long_vectors_of_floats(p, kernels)) return false;
  const std::int64_t vectors = ceil_div(p.m, kernels.lanes);
  if (p.n == 1 || p.n > kernels.lanes / 2 || p.m % kernels.lanes == 0 || vectors > kMostVectorsToRepayPacking)
    return false;
  const bool is_high = p.n >= kColumnsOfHighTile && vectors == kMostVectorsToRepayPacking;
  const std::int64_t for_column = p.n < kMoreColumns ? kLeastElementsOfAForColumn
                                  : is_high          ? kLeastElementsOfAForHighTile
                                                     : kLeastElementsOfAForMoreColumns;
  return p.m * p.k < for_column * p.n;
}

/// Both operands are transposed, so that those of Y^T lie as tiles read them: to turn B would take longer than the few
/// sums there are.
bool has_few_sums_of_both(const Problem& p, const Kernels& kernels) {
  if (!has_long_vectors_of_floats(p, kernels) || p.a_row_step != 1 || p.b_column_step == 1) return false;
  const std::int64_t sums = p.m * p.n;
  if (p.m == 1 || p.k < kLeastKToSwapBothFor || sums > kMostSumsForEachK * p.k) return false;
  return p.m >= p.n || (2 * p.m > p.n && sums <= kMostSumsOfWideY);
}

/// With vectors of half a line times are compared (swap_cost.h).
bool may_turn_both(const Problem& p, const Kernels& kernels) {
  return kernels.has_short_vectors && p.a_row_step == 1 && p.b_column_step != 1 &&
         std::min(p.m, p.n) >= kFewestRowsAndColumnsToTurnBoth;
}

}  // namespace

bool has_columns_to_swap(const Problem& p, const Kernels& kernels) {
  if (p.a_row_step != 1) return false;
  if (p.k >= kLeastKToSwapFor && p.n <= std::max(kernels.lanes / 2, std::int64_t{1})) return true;
  return has_long_vectors_of_floats(p, kernels) && saves_enough(p, kernels, empty_part(p.n, kernels));
}

/// Columns far fewer than the lanes of a vector waste most of it; rows may fill it, but those of an A row by row must
/// be transposed for that, which takes longer than what floats with masked vectors waste: dots are there for a long k.
bool should_swap(const Problem& p, const Kernels& kernels, const Target& target, bool b_is_packed) {
  if (b_is_packed) return false;
  if (may_turn_both(p, kernels)) return costs_less_than_turning_both(p, kernels);
  if (swaps_transposed_b(p, kernels, target) || costs_less_than_panels_of_b(p, kernels)) return true;
  if (has_few_sums_of_both(p, kernels)) return true;
  if (p.m <= p.n) return false;
  if (p.n == 1) {
    if (kernels.has_long_vectors() && p.a_row_step != 1 && p.m * p.k < kLeastElementsOfAToSwapColumnFor) return false;
    const bool is_short = p.k < kLeastKToSwapColumnFor && p.k % kernels.lanes != 0;
    const bool is_low = (p.m <= kernels.mr && kernels.widen_lines == nullptr) ||
                        (is_short && (p.m < kLeastRowsToSwapColumnFor || p.k > kernels.lanes));
    return p.a_row_step == 1 || !kernels.has_short_vectors || !is_low;
  }
  if (p.a_row_step != 1 && kernels.takes_any_columns && is_float(p.type)) return false;
  if (p.a_row_step == 1 && is_too_small_to_swap(p, kernels)) return false;
  if (p.a_row_step == 1 && (swaps_transposed_a(p, kernels) || costs_less_than_columns_of_a(p, kernels))) return true;
  const std::int64_t few = p.a_row_step == 1 ? kernels.lanes / 2 : kernels.lanes / 4;
  if (p.n > few || p.k < kLeastKToSwapFor) return false;
  if (p.a_row_step != 1 || kernels.has_short_vectors) return p.m >= 2 * kernels.lanes;
  const bool is_short = p.n > kColumnsToSwapSoonFor && p.k < kLeastKToSwapMoreFor;
  return !is_short && p.m >= (p.k < kLeastKToSwapFewRowsFor ? 2 * kernels.lanes : kernels.mr + 1);
}

Problem swapped(const Problem& p) noexcept {
  Problem s = p;
  s.m = p.n;
  s.n = p.m;
  s.a_row_step = p.b_column_step;
  s.a_column_step = p.b_row_step;
  s.b_row_step = p.a_column_step;
  s.b_column_step = p.a_row_step;
  s.b_has_whole_vectors = false;
  s.c_row_step = p.c_column_step;
  s.c_column_step = p.c_row_step;
  return s;
}

}  // namespace binet::kernels::gemm
