#include "kernels/gemm/dots.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/gemm/items.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/read_lines.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

template <std::size_t kBytes>
void transpose(const Problem& p, const std::byte* b, std::byte* to, std::int64_t to_step) {
  const std::int64_t step = p.b_row_step * std::int64_t{kBytes};
  for (std::int64_t n = 0; n < p.n; ++n, b += p.b_column_step * std::int64_t{kBytes}) {
    const std::byte* from = b;
    std::byte* column = to + n * to_step * std::int64_t{kBytes};
    for (std::int64_t k = 0; k < p.k; ++k, from += step, column += kBytes) std::memcpy(column, from, kBytes);
  }
}

/// A column of Y as one row, whose sums are whole vectors.
Output as_row(const Output& column) {
  return {column.y, 1, column.y_row_step, column.c, column.c_column_step, column.c_row_step};
}

}  // namespace

void write_columns_of_b(const Problem& p, const Kernels& kernels, const std::byte* b, std::byte* columns) {
  if (takes_pairs(p)) return kernels.write_pairs(b, p.b_row_step, p.b_column_step, p.n, p.k, columns);
  const std::int64_t step = column_step_of_dots(p, kernels);
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

void run_dots(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
              std::byte* workspace, const ThreadPool& pool) {
  const Problem p = problem_of_dots(plan);
  const Schedule& s = plan.schedule;
  if (s.is_swapped) std::swap(a, b);
  const Kernels& kernels = *plan.kernels;
  const Scale scale = make_scale(p);
  const bool in_pairs = takes_pairs(p);
  const auto multiply = in_pairs ? kernels.pairs : kernels.dots;
  std::int64_t column_step = p.n == 1 ? p.k : p.b_column_step;
  if (plan.b_is_packed || !has_columns_of_dots(p)) column_step = column_step_of_dots(p, kernels);
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
