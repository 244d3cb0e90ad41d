// Room: kernels. A call, in the way that its plan has chosen (gemm.h, plan.cc).
#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "base/aligned_buffer.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/parts.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/product.h"
#include "kernels/gemm/read_lines.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/tiled/tiled.h"
#include "kernels/stream_bytes.h"

namespace binet::kernels::gemm {
namespace {

/// B as the rows that the problem of the plan has, if it has others, or they begin no line: in the beginning of the
/// workspace.
const std::byte* place_rows_of_b(const Plan& plan, const std::byte* b, std::byte* workspace) {
  const Problem& p = plan.problem;
  const Schedule& s = plan.schedule;
  if (s.b_lane_step != 0) {
    plan.kernels->turn_rows({b, s.b_lane_step, 1, p.n, p.k, workspace, p.b_row_step, 0});
    return workspace;
  }
  if (s.b_given_step == 0) return b;
  if (s.copies_b_off_lines && reinterpret_cast<std::uintptr_t>(b) % kLineBytes == 0) return b;
  const std::int64_t bytes = plan.kernels->element_bytes;
  for (std::int64_t k = 0; k < p.k; ++k) {
    std::memcpy(workspace + k * p.b_row_step * bytes, b + k * s.b_given_step * bytes,
                static_cast<std::size_t>(p.n * bytes));
  }
  return workspace;
}

/// The last step of sums that lie in Y. Kernels may read a vector beyond sums: of the last ones a copy is finished.
void finish_in_place(const Problem& p, const Kernels& kernels, const std::byte* c, std::byte* y) {
  const Scale scale = make_scale(p);
  const Output output = {y, p.y_row_step, 1, c, p.c_row_step, p.c_column_step};
  const std::int64_t bytes = kernels.element_bytes;
  const auto sums_at = [&](std::int64_t row, std::int64_t column) { return y + (row * p.y_row_step + column) * bytes; };
  const std::int64_t last_rows = std::min(p.m, ceil_div(kernels.lanes, p.n)), before = p.m - last_rows;
  const std::int64_t whole = p.n / kernels.lanes * kernels.lanes, rest = p.n - whole;
  if (before > 0) kernels.finish(sums_at(0, 0), p.y_row_step, before, p.n, output, 0, 0, scale);
  if (whole > 0) kernels.finish(sums_at(before, 0), 0, 1, whole, output, before, 0, scale);
  if (rest == 0) return;
  alignas(kCacheLine) std::byte sums[3 * kCacheLine];  // fewer than two vectors, and another that is read
  for (std::int64_t i = 0; i < last_rows; ++i) {
    std::memcpy(sums + i * rest * bytes, sums_at(before + i, whole), static_cast<std::size_t>(rest * bytes));
  }
  kernels.finish(sums, rest, last_rows, rest, output, before, whole, scale);
}

/// Y = beta * C, or zeros: the last step of sums of nothing, some columns of all rows at a time.
[[gnu::noinline]] void run_without_k(const Plan& plan, const std::byte* c, std::byte* y) {
  constexpr std::int64_t kSumsBytes = 16 * kCacheLine;
  alignas(kCacheLine) const std::byte sums[kSumsBytes] = {};
  const Problem& p = plan.problem;
  const Output output = {y, p.y_row_step, 1, c, p.c_row_step, p.c_column_step};
  const Scale scale = make_scale(p);
  const std::int64_t most = kSumsBytes / plan.kernels->accumulator_bytes;
  for (std::int64_t column = 0; column < p.n; column += most) {
    plan.kernels->finish(sums, 0, p.m, std::min(most, p.n - column), output, 0, column, scale);
  }
}

/// Rows that are computed at once, and their last step where that is apart.
void multiply_rows(const Plan& plan, const Problem& rows, const std::byte* a, const std::byte* b, const std::byte* c,
                   std::byte* y, std::byte* slot) {
  if (!plan.schedule.ends_apart) return plan.kernels->multiply_at_once(rows, plan.schedule, a, b, c, y, slot);
  plan.kernels->multiply_at_once(sums_alone(rows), plan.schedule, a, b, nullptr, y, slot);
  finish_in_place(rows, *plan.kernels, c, y);
}

/// The same with some columns of some rows at a time in `slot`, from where they are streamed to Y, which is one run.
void multiply_and_stream(const Plan& plan, const Problem& p, const std::byte* a, const std::byte* b, const std::byte* c,
                         std::byte* y, std::byte* slot) {
  const Schedule& s = plan.schedule;
  const std::int64_t bytes = plan.kernels->element_bytes, n = p.n;
  Problem rows = p;
  for (std::int64_t column = 0; column < n; column += s.strip_columns) {
    rows.n = rows.y_row_step = std::min(s.strip_columns, n - column);
    multiply_rows(plan, rows, a, b + column * rows.b_column_step * bytes,
                  c == nullptr ? nullptr : c + column * rows.c_column_step * bytes, slot, nullptr);
    const std::int64_t runs = rows.n == n ? 1 : rows.m, run_bytes = rows.m * rows.n * bytes / runs;
    for (std::int64_t i = 0; i < runs; ++i) {
      stream_bytes(slot + i * run_bytes, y + (i * n + column) * bytes, run_bytes);
    }
  }
}

/// Not a part of run(), which would save registers for it.
[[gnu::noinline]] void run_rows_at_once(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c,
                                        std::byte* y, std::byte* workspace, const ThreadPool& pool) {
  const Problem& p = plan.problem;
  const Schedule& s = plan.schedule;
  b = place_rows_of_b(plan, b, workspace);
  workspace += s.whole_b_bytes;
  const std::int64_t slot_bytes = static_cast<std::int64_t>(s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes);
  const std::int64_t bytes = plan.kernels->element_bytes;
  run_items(s, pool, [&](std::int64_t item, std::int64_t worker) {
    std::byte* const slot = workspace + worker * slot_bytes;
    const std::int64_t together = s.block_rows == 0 ? s.item_rows : s.block_rows;
    Problem rows = p;
    const std::int64_t column = item * s.item_columns, first = s.item_columns > 0 ? 0 : item * s.item_rows;
    if (s.item_columns > 0) rows.n = std::min(s.item_columns, p.n - column);
    const std::int64_t end = std::min(p.m, first + s.item_rows);
    const std::byte* const b_of_item = b + column * p.b_column_step * bytes;
    for (std::int64_t row = first; row < end; row += together) {
      rows.m = std::min(together, end - row);
      const std::byte* const c_of_rows =
          c == nullptr ? nullptr : c + (row * p.c_row_step + column * p.c_column_step) * bytes;
      std::byte* const y_of_rows = y + (row * p.y_row_step + column) * bytes;
      const std::byte* const a_of_rows = a + row * p.a_row_step * bytes;
      if (s.reads_a_first) read_rows_of_a(p, a_of_rows, rows.m, bytes);
      if (s.reads_rows_first) {
        if (adds_full_c(p)) read_lines(c_of_rows, rows.m, p.c_row_step * bytes, p.n * bytes);
        if (!s.streams_rows) read_lines(y_of_rows, rows.m, p.y_row_step * bytes, p.n * bytes);
      }
      const auto multiply = s.streams_rows ? multiply_and_stream : multiply_rows;
      multiply(plan, rows, a_of_rows, b_of_item, c_of_rows, y_of_rows, slot);
    }
    if (s.streams_rows) hwy::FlushStream();
  });
}

/// Nor this.
[[gnu::noinline]] void run_parts(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c,
                                 std::byte* y, std::byte* workspace, const ThreadPool& pool) {
  const Problem& p = plan.problem;
  const std::int64_t bytes = plan.kernels->element_bytes;
  const std::int64_t before = plan.parts[0].problem.n * bytes;
  const std::byte* const last_b =
      b + (plan.b_is_packed ? static_cast<std::int64_t>(plan.last_columns_of_b) : before * p.b_column_step);
  const std::int64_t rows = plan.parts[0].problem.m;
  for (std::int64_t m = 0; m < p.m; m += rows) {
    const Plan* const parts = plan.parts.data() + (p.m - m >= rows ? 0 : 2);
    const std::byte* const last_c = c == nullptr ? nullptr : c + before * p.c_column_step;
    run(parts[0], a, b, c, y, workspace, pool);
    run(parts[1], a, last_b, last_c, y + before, workspace, pool);
    a += rows * p.a_row_step * bytes;
    if (c != nullptr) c += rows * p.c_row_step * bytes;
    y += rows * p.y_row_step * bytes;
  }
}

/// Nor this.
[[gnu::noinline]] void run_items_of(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c,
                                    std::byte* y, std::byte* workspace, const ThreadPool& pool) {
  b = place_rows_of_b(plan, b, workspace);
  Product product(plan, a, b, c, y, workspace);
  if (plan.schedule.b_source == BSource::whole) product.pack_b(pool);
  if (plan.schedule.b_source == BSource::widened) product.widen_b(pool);
  run_items(plan.schedule, pool, [&](std::int64_t item, std::int64_t worker) { product.compute_item(item, worker); });
  if (plan.schedule.segments > 1) product.add_segments(pool);
}

}  // namespace

// Small products take little longer than the calls on their way: here nothing but the choice, and no registers to save.
void run(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
         std::byte* workspace, const ThreadPool& pool) {
  switch (plan.way) {
    case Way::nothing:
      return;
    case Way::without_k:
      return run_without_k(plan, c, y);
    case Way::dots:
      return run_dots(plan, a, b, c, y, workspace, pool);
    case Way::parts:
      return run_parts(plan, a, b, c, y, workspace, pool);
    case Way::tiled:
      return run_tiled(plan, a, b, c, y, workspace, pool);
    case Way::at_once:
      return plan.kernels->multiply_at_once(plan.problem, plan.schedule, a, b, c, y, workspace);
    case Way::rows_at_once:
      return run_rows_at_once(plan, a, b, c, y, workspace, pool);
    case Way::items:
      return run_items_of(plan, a, b, c, y, workspace, pool);
  }
}

}  // namespace binet::kernels::gemm
