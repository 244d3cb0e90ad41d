// Room: kernels. Which products are dots, and how they are cut.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

constexpr std::int64_t kMostColumns = 4;
constexpr std::int64_t kLeastK = 32;
// Two columns of floats leave so many lanes of tiles empty that dots are faster sooner, and four of f64 so few that
// they are later.
constexpr std::int64_t kLeastKOfTwoColumns = 16, kLeastKOfFourColumnsOfF64 = 64;
// Integers have no other good way for one column: a vector of A is turned by tiles of f32 and f64 alone.
constexpr std::int64_t kLeastKOfOneColumnOfIntegers = 2;
// A few rows of integers and a transposed B, which tiles would have to turn, are the columns of Y^T if K is so long for
// each of them; products of 64 bits take longer than that. Measured with vectors of half a line.
constexpr std::int64_t kMostRowsOf64Bits = 2;
constexpr std::int64_t kLeastKForEachRow = 64, kLeastKForEachRowOf64Bits = 256;
// With a shorter K it does not pay to write B in pairs first, nor with one so long that few rows are cut into segments.
constexpr std::int64_t kLeastKOfPairs = 64;
// So many rows have their sums before these are finished. In pairs the sums of a row take a vector.
constexpr std::int64_t kMostRows = 1024;
constexpr std::int64_t kRowsOfPairs = 256, kRowsOfPairsToRead = 32;
constexpr std::int64_t kRowsUnit = 16;

}  // namespace

bool takes_pairs(const Problem& p) noexcept {
  if (p.type != ElementType::f32 || p.n <= kMostColumns || p.n > kColumnsOfPairs) return false;
  return p.k >= kLeastKOfPairs && p.a_row_step != 1 && segments_of(p).count == 1;
}

bool takes_dots(const Problem& p) noexcept {
  if (takes_pairs(p)) return true;
  if (is_integer(p.type) && p.n == 1) return p.k >= kLeastKOfOneColumnOfIntegers && p.a_row_step != 1;
  std::int64_t least_k = kLeastK;
  if (p.n == 2 && is_float(p.type)) least_k = kLeastKOfTwoColumns;
  if (p.n == kMostColumns && p.type == ElementType::f64) least_k = kLeastKOfFourColumnsOfF64;
  // A transposed A has row step 1, whatever M is.
  return p.n <= kMostColumns && p.k >= least_k && p.a_row_step != 1;
}

bool takes_dots_of_rows(const Problem& p, const Kernels& kernels, bool b_is_packed) noexcept {
  if (!is_integer(p.type) || p.b_row_step != 1 || b_is_packed || !takes_dots(swapped(p))) return false;
  if (p.m == 1) return true;
  const bool is_64_bits = kernels.element_bytes == 8;
  return kernels.has_short_vectors && p.m <= (is_64_bits ? kMostRowsOf64Bits : kMostColumns) &&
         p.k >= p.m * (is_64_bits ? kLeastKForEachRowOf64Bits : kLeastKForEachRow);
}

std::size_t columns_of_b_bytes(const Problem& p, const Kernels& kernels) noexcept {
  const std::int64_t elements =
      takes_pairs(p) ? round_up(p.k, 2) * kColumnsOfPairs : p.n * column_step_of_dots(p, kernels);
  return static_cast<std::size_t>(elements * kernels.element_bytes);
}

void plan_dots(Plan& plan, int threads) {
  const Problem p = problem_of_dots(plan);
  const Kernels& kernels = *plan.kernels;
  Schedule& s = plan.schedule;
  const Segments segments = segments_of(p);
  plan.way = Way::dots;
  s.segments = segments.count;
  s.segment_k = segments.k;
  const bool fetches = takes_pairs(p) ? fetches_rows_of_a_and_y(p, kernels) : fetches_rows_of_a(p, kernels);
  if (fetches) s.fetched = FarOperand::rows_of_a;
  choose_workers(p, kernels, threads, s);

  s.reads_a_first = takes_pairs(p) && reads_far_rows_of_a_first(p, kernels);
  std::int64_t rows = s.reads_a_first ? kRowsOfPairsToRead : takes_pairs(p) ? kRowsOfPairs : kMostRows;
  if (s.workers > 1) {
    constexpr std::int64_t kItemsPerWorker = 4;
    const std::int64_t wanted = ceil_div(s.workers * kItemsPerWorker, segments.count);
    rows = std::min(rows, ceil_div(ceil_div(p.m, wanted), kRowsUnit) * kRowsUnit);
  }
  s.item_rows = std::min(rows, p.m);
  s.row_items = ceil_div(p.m, s.item_rows);
  s.items = s.row_items * segments.count;
  s.workers = std::min(s.workers, s.items);

  const auto accumulators = [&](std::int64_t count) {
    return round_up_to_cache_line(static_cast<std::size_t>(count * kernels.accumulator_bytes));
  };
  s.sums_row_step = takes_pairs(p) ? kColumnsOfPairs : p.n;
  if (s.segments > 1) {
    s.segment_sums_bytes = accumulators(s.segments * p.m * s.sums_row_step);
  } else {
    // A last vector may reach beyond them.
    s.slot_sums_bytes = accumulators(s.item_rows * s.sums_row_step + kernels.lanes);
  }
  if (!plan.b_is_packed && (takes_pairs(p) || !has_columns_of_dots(p)))
    s.whole_b_bytes = columns_of_b_bytes(p, kernels);
  plan.workspace_bytes =
      s.whole_b_bytes + s.segment_sums_bytes + static_cast<std::size_t>(s.workers) * s.slot_sums_bytes;
}

}  // namespace binet::kernels::gemm
