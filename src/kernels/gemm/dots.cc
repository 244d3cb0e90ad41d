#include "kernels/gemm/dots.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/aligned_buffer.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/plan/far_operands.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/read_lines.h"
#include "kernels/gemm/scale.h"
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

/// Columns lie as dots read them: k side by side.
bool has_columns(const Problem& p) { return p.b_row_step == 1; }

/// From one written column to the next, in elements: each begins a cache line, as A, which lies as it lies, makes loads
/// across two lines enough.
std::int64_t written_column_step(const Problem& p, const Kernels& kernels) {
  return round_up(p.k, kLineBytes / kernels.element_bytes);
}

template <std::size_t kBytes>
void transpose(const Problem& p, const std::byte* b, std::byte* to, std::int64_t to_step) {
  const std::int64_t step = p.b_row_step * std::int64_t{kBytes};
  for (std::int64_t n = 0; n < p.n; ++n, b += p.b_column_step * std::int64_t{kBytes}) {
    const std::byte* from = b;
    std::byte* column = to + n * to_step * std::int64_t{kBytes};
    for (std::int64_t k = 0; k < p.k; ++k, from += step, column += kBytes) std::memcpy(column, from, kBytes);
  }
}

/// As it is computed.
Problem computed_problem(const Plan& plan) {
  if (!plan.schedule.is_swapped) return plan.problem;
  Problem p = swapped(plan.problem);
  p.y_row_step = 1;
  return p;
}

/// A column of Y as one row, whose sums are whole vectors.
Output as_row(const Output& column) {
  return {column.y, 1, column.y_row_step, column.c, column.c_column_step, column.c_row_step};
}

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
      takes_pairs(p) ? round_up(p.k, 2) * kColumnsOfPairs : p.n * written_column_step(p, kernels);
  return static_cast<std::size_t>(elements * kernels.element_bytes);
}

void write_columns_of_b(const Problem& p, const Kernels& kernels, const std::byte* b, std::byte* columns) {
  if (takes_pairs(p)) return kernels.write_pairs(b, p.b_row_step, p.b_column_step, p.n, p.k, columns);
  const std::int64_t step = written_column_step(p, kernels);
  if (kernels.write_columns != nullptr && p.b_column_step == 1 && p.k * kernels.element_bytes >= kLineBytes) {
    return kernels.write_columns(b, p.b_row_step, p.n, p.k, columns, step);
  }
  switch (kernels.element_bytes) {
    case 2:
      return transpose<2>(p, b, columns, step);
    case 4:
      return transpose<4>(p, b, columns, step);
    default:
      return transpose<8>(p, b, columns, step);
  }
}

void plan_dots(Plan& plan, int threads) {
  const Problem p = computed_problem(plan);
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
  if (!plan.b_is_packed && (takes_pairs(p) || !has_columns(p))) s.whole_b_bytes = columns_of_b_bytes(p, kernels);
  plan.workspace_bytes =
      s.whole_b_bytes + s.segment_sums_bytes + static_cast<std::size_t>(s.workers) * s.slot_sums_bytes;
}

void run_dots(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
              std::byte* workspace, const ThreadPool& pool) {
  const Problem p = computed_problem(plan);
  const Schedule& s = plan.schedule;
  if (s.is_swapped) std::swap(a, b);
  const Kernels& kernels = *plan.kernels;
  const Scale scale = make_scale(p);
  const bool in_pairs = takes_pairs(p);
  const auto multiply = in_pairs ? kernels.pairs : kernels.dots;
  std::int64_t column_step = p.n == 1 ? p.k : p.b_column_step;
  if (plan.b_is_packed || !has_columns(p)) column_step = written_column_step(p, kernels);
  if (s.whole_b_bytes > 0) {
    write_columns_of_b(p, kernels, b, workspace);
    b = workspace;
  }
  std::byte* const segment_sums = workspace + s.whole_b_bytes;
  std::byte* const slots = segment_sums + s.segment_sums_bytes;
  const Output output = {y, p.y_row_step, s.is_swapped ? plan.problem.y_row_step : 1, c, p.c_row_step, p.c_column_step};

  const auto compute_item = [&](std::int64_t item, std::int64_t worker) {
    const bool is_all = s.items == 1;  // divisions that a small product would notice
    const std::int64_t row = is_all ? 0 : item % s.row_items * s.item_rows;
    const std::int64_t segment = is_all ? 0 : item / s.row_items;
    const std::int64_t k0 = segment * s.segment_k;
    Block block;
    block.m = std::min(s.item_rows, p.m - row);
    block.n = p.n;
    block.k = std::min(s.segment_k, p.k - k0);
    block.a = a + (row * p.a_row_step + k0) * kernels.element_bytes;
    block.a_row_step = p.a_row_step;
    block.b = b + k0 * kernels.element_bytes;
    block.b_panel_step = column_step;
    block.fetched = s.fetched;
    block.sums_row_step = s.sums_row_step;
    if (s.segments > 1) {
      block.sums = segment_sums + (segment * p.m + row) * s.sums_row_step * kernels.accumulator_bytes;
      return multiply(block);
    }
    block.sums = slots + static_cast<std::size_t>(worker) * s.slot_sums_bytes;
    if (s.reads_a_first) read_rows_of_a(p, block.a, block.m, kernels.element_bytes);
    multiply(block);
    const Output part = part_of(output, row, 0, kernels);
    if (p.n == 1) return kernels.finish(block.sums, block.m, 1, block.m, as_row(part), 0, 0, scale);
    kernels.finish(block.sums, s.sums_row_step, block.m, p.n, part, 0, 0, scale);
  };
  run_items(s, pool, compute_item);
  if (s.segments > 1) {
    finish_segments({segment_sums, s.segments, p.m, p.n, s.sums_row_step}, kernels, output, scale, pool);
  }
}

}  // namespace binet::kernels::gemm
