#include "kernels/elementwise/plan.h"

#include <algorithm>
#include <utility>

#include "base/cache_size.h"
#include "base/element_types.h"
#include "kernels/elementwise/kept_row.h"

namespace binet::kernels::elementwise {
namespace {

/// What another thread is woken for: moving this much takes several times as long as the waking.
constexpr std::int64_t kBytesPerTask = 128 * 1024;

/// So few rows that the next loop around them is handed to the kernel, too: calling it for each block would be felt.
constexpr std::int64_t kFewRows = 32;

Rows innermost_loops(const BroadcastPlan& plan, const Kernel& kernel) {
  Rows rows;
  rows.rows = plan.elements == 0 ? 0 : 1;
  rows.elements = 1;
  const std::vector<BroadcastLoop>& loops = plan.loops;
  if (!loops.empty()) {
    rows.elements = loops.back().extent;
    rows.b_step = loops.back().b_step;
  }
  if (loops.size() > 1) {
    const BroadcastLoop& outer = loops[loops.size() - 2];
    rows.rows = outer.extent;
    rows.a_row_step = outer.a_step;
    rows.b_row_step = outer.b_step;
  }
  if (loops.size() > 2 && rows.rows < (kernel.widening.size == 0 ? kFewRows : fewest_rows_of_kept(kernel))) {
    const BroadcastLoop& outer = loops[loops.size() - 3];
    rows.blocks = outer.extent;
    rows.a_block_step = outer.a_step;
    rows.b_block_step = outer.b_step;
  }
  return rows;
}

/// The elements of an operand, repeated ones counted once.
std::int64_t count_elements(const BroadcastPlan& plan, std::int64_t BroadcastLoop::*step) {
  std::int64_t elements = 1;
  for (const BroadcastLoop& loop : plan.loops) elements *= loop.*step == 0 ? 1 : loop.extent;
  return elements;
}

}  // namespace

Plan make_plan(Operation operation, ElementType type, BroadcastPlan loops, const Target& target) {
  Plan plan;
  plan.loops = std::move(loops);
  plan.swapped = !plan.loops.loops.empty() && plan.loops.loops.back().a_step == 0;
  if (plan.swapped) {
    for (BroadcastLoop& loop : plan.loops.loops) std::swap(loop.a_step, loop.b_step);
  }
  plan.kernel = find_kernel(operation, type, target);
  plan.size = static_cast<std::int64_t>(byte_size(type));
  plan.rows = innermost_loops(plan.loops, plan.kernel);
  plan.cache_bytes = last_level_cache_bytes();
  if (plan.loops.elements == 0) return plan;
  const std::int64_t a = count_elements(plan.loops, &BroadcastLoop::a_step);
  const std::int64_t b = count_elements(plan.loops, &BroadcastLoop::b_step);
  plan.touched_bytes = (a + b + plan.loops.elements) * plan.size;
  plan.streamed_from = find_streamed_from(plan.loops, plan.size, a + b);
  const bool leaves_l2 = plan.touched_bytes >= second_level_cache_bytes() / 2;
  plan.rows.fetch = last_level_cache_is_slow() && leaves_l2;
  const Reach reach = plan.touched_bytes >= plan.streamed_from.one       ? Reach::streamed
                      : plan.touched_bytes >= far_from(plan.cache_bytes) ? Reach::far
                      : leaves_l2                                        ? Reach::shared
                      : plan.touched_bytes > first_level_cache_bytes()   ? Reach::near
                                                                         : Reach::nearest;
  plan.tiling = make_tiling(plan.loops, plan.size, reach, plan.kernel);
  plan.unit = kLineBytes / plan.size;
  plan.units = plan.tiling ? plan.tiling->all_tiles : (plan.loops.elements + plan.unit - 1) / plan.unit;
  plan.tasks = std::clamp<std::int64_t>(plan.touched_bytes / kBytesPerTask, 1, plan.units);
  return plan;
}

}  // namespace binet::kernels::elementwise
