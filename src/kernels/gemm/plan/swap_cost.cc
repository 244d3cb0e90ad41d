#include "kernels/gemm/plan/swap_cost.h"

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Fewer rows turn B while they multiply (turned_b.h); for more of them what it costs to turn B hardly counts.
constexpr std::int64_t kLeastRowsOf32Bits = 5, kLeastRowsOf64Bits = 3;
constexpr std::int64_t kMostRows = 64;
// A transposed A beyond such a part of the last-level cache, of f64 beyond so many times L2, is better read in its own
// order, whatever is computed meanwhile. That is felt for each k, while each column has its sums turned at the end.
constexpr std::int64_t kPartOfNearA = 4;
constexpr std::int64_t kL2SizesOfNearA = 4;
constexpr std::int64_t kMostColumnsOfFarA = 128, kMostColumnsOfFarAOf64Bits = 32;
constexpr std::int64_t kLeastKOfFarA = 64, kLeastKForEachColumn = 2;
constexpr std::int64_t kLeastKOfFarAOf64Bits = 384;
// So is one beyond smaller parts, if K is longer, sooner where the last tile of its columns' products is no whole one.
constexpr std::int64_t kPartOfNearerA = 8, kPartOfNearerAForPartialTiles = 16;
constexpr std::int64_t kLeastKOfNearerA = 256;
constexpr std::int64_t kLeastColumnsToWidenFor = 16, kMostRowsForEachColumnToWiden = 8;  // of Y^T
constexpr std::int64_t kMostColumnsToKeepRowsFor = 16;  // more are felt by few rows, which lose the panels

/// Cycles of a multiply-add of vectors, where others can go on meanwhile.
double multiply_add(const Problem& p) {
  if (is_float(p.type)) return 0.5;
  return byte_size(p.type) == 8 ? 2.8 : 0.76;
}

/// For each k of a row of so many columns, in tiles of six rows, of twelve where floats fill a single vector: a tenth
/// more than the multiply-adds alone. An odd vector takes tiles of its own, whose chains are too few to hide their
/// latency, or hardly enough.
double of_row(const Problem& p, std::int64_t columns, const Kernels& kernels) {
  const std::int64_t vectors = ceil_div(columns, kernels.lanes);
  const double of_odd = vectors == 1 && is_float(p.type) ? 0.1 : 0.2;
  return 1.1 * multiply_add(p) * static_cast<double>(vectors) + (vectors % 2 == 1 ? of_odd : 0.0);
}

/// Whether a transposed A is so large that passing over its rows of one k each, for few columns, is what limits.
bool passes_over_far_a(const Problem& p, const Kernels& kernels) {
  const std::int64_t a_bytes = p.m * p.k * kernels.element_bytes;
  if (kernels.element_bytes == 8)
    return p.n <= kMostColumnsOfFarAOf64Bits && p.k >= kLeastKOfFarAOf64Bits &&
           a_bytes > kL2SizesOfNearA * second_level_cache_bytes();
  if (p.n > kMostColumnsOfFarA) return false;
  const std::int64_t cache = last_level_cache_bytes();
  if (a_bytes > cache / kPartOfNearA) return p.k >= kLeastKOfFarA + kLeastKForEachColumn * p.n;
  const bool are_whole_tiles = p.n % kernels.nr == 0;
  return a_bytes > cache / (are_whole_tiles ? kPartOfNearerA : kPartOfNearerAForPartialTiles) &&
         p.k >= kLeastKOfNearerA;
}

}  // namespace

bool costs_less_than_panels_of_b(const Problem& p, const Kernels& kernels) {
  if (!kernels.has_short_vectors || kernels.widens() || p.b_column_step == 1) return false;
  const bool is_wide = kernels.element_bytes == 8;
  if (p.m < (is_wide ? kLeastRowsOf64Bits : kLeastRowsOf32Bits) || p.m > kMostRows || p.m > p.n) return false;
  // For each k of a column of Y. An A row by row is turned, too, by each of two threads.
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double turn = is_wide ? 1.0 : 0.63;  // an element
  const double with_panels = multiply_add(p) * m / static_cast<double>(kernels.lanes) + turn;
  const double swapped = of_row(p, p.m, kernels) + (p.a_row_step == 1 ? 0.0 : 2 * turn * m / n);
  const double to_end = is_wide ? 90 + 2.4 * m : 45 + 1.4 * m;  // the column, whose sums are turned
  return static_cast<double>(p.k) * (with_panels - swapped) > to_end;
}

bool costs_less_than_turning_both(const Problem& p, const Kernels& kernels) {
  // What is widened of B, as the first operand of Y^T, is for too few columns.
  if (kernels.widens() && p.m < kLeastColumnsToWidenFor && p.n > kMostRowsForEachColumnToWiden * p.m) return false;
  const bool is_wide = kernels.element_bytes == 8;
  // For each k of a column of Y.
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double turned = of_row(p, p.n, kernels) * m / n + (is_wide ? 1.0 : 0.63);
  const double to_end = is_wide ? 135 + 3.6 * m : is_float(p.type) ? 68 + 2.1 * m : 110 + 3.5 * m;  // of the column
  return static_cast<double>(p.k) * (turned - of_row(p, p.m, kernels)) > to_end;
}

bool costs_less_than_columns_of_a(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || p.m < 2 * kernels.lanes) return false;
  if (passes_over_far_a(p, kernels)) return true;
  const bool is_wide = kernels.element_bytes == 8;
  // Columns that fill a vector, or nearly, but two low tiles of Y^T.
  if (p.n > kernels.mr && p.n <= kernels.lanes) return false;
  // For each k of a row of Y.
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n);
  const double swapped = n * of_row(p, p.m, kernels) / m;
  const double to_end = 10 + (is_wide ? 1.2 : 0.5) * n * n;
  return static_cast<double>(p.k) * (of_row(p, p.n, kernels) - swapped) > to_end;
}

bool has_few_columns_beside_columns_of_a(const Problem& p, const Kernels& kernels) noexcept {
  return has_short_floats(kernels) && p.a_row_step == 1 && p.n <= kMostColumnsToKeepRowsFor;
}

}  // namespace binet::kernels::gemm
