// Room: kernels. Walking a broadcast plan with a kernel, on one thread or several.
//
// y is cut into one range of elements per task; what a range computes does not depend on where it was cut. A range goes
// through the blocks (the two innermost loops) that it touches, the first and the last perhaps in part; plans of short
// rows go through tiles.cc instead.
#include <hwy/cache_control.h>

#include <algorithm>

#include "kernels/elementwise/tiles.h"
#include "kernels/elementwise/walk.h"

namespace binet::kernels::elementwise {
namespace {

constexpr std::int64_t kLineBytes = 64;
/// What another thread is woken for: moving this much takes several times as long as the waking.
constexpr std::int64_t kBytesPerTask = 128 * 1024;
/// More tasks than threads even out cores that are not equally free.
constexpr std::int64_t kTasksPerThread = 4;
/// From this size on, little of y is still in a cache when somebody reads it. A streaming store then saves reading the
/// line before writing it: a quarter of the traffic of a product of equal shapes.
constexpr std::int64_t kStreamBytes = 16 * 1024 * 1024;

Call take_apart(const BroadcastPlan& plan, RowsFunction kernel, ElementType type, const std::byte* a,
                const std::byte* b, std::byte* y) {
  Call call{kernel, static_cast<std::int64_t>(byte_size(type)), a, b, y, {}, {}};
  call.inner.elements = 1;
  const std::span<const BroadcastLoop> loops = plan.loops;
  if (!loops.empty()) {
    call.inner.elements = loops.back().extent;
    call.inner.a_step = loops.back().a_step;
    call.inner.b_step = loops.back().b_step;
  }
  if (loops.size() > 1) {
    const BroadcastLoop& rows = loops[loops.size() - 2];
    call.inner.rows = rows.extent;
    call.inner.a_row_step = rows.a_step;
    call.inner.b_row_step = rows.b_step;
    call.outer = loops.first(loops.size() - 2);
  }
  call.inner.stream = plan.elements * call.size >= kStreamBytes && y != a && y != b;
  return call;
}

/// The rows [row, row + rows) of a block whose operands begin at a and b, and of each the elements [from, from +
/// count).
void part_of_block(const Call& call, const BlockPosition& position, std::int64_t row, std::int64_t rows,
                   std::int64_t from, std::int64_t count, std::byte* y) {
  Rows part = call.inner;
  part.rows = rows;
  part.elements = count;
  const std::int64_t a = position.a() + row * part.a_row_step + from * part.a_step;
  const std::int64_t b = position.b() + row * part.b_row_step + from * part.b_step;
  call.kernel(part, call.a + a * call.size, call.b + b * call.size, y);
}

void run_blocks(const Call& call, std::int64_t begin, std::int64_t end) {
  const std::int64_t n = call.inner.elements;
  BlockPosition position(call.outer, begin / call.block_elements());
  std::int64_t row = begin % call.block_elements() / n;
  std::int64_t from = begin % n;
  while (begin < end) {
    const bool whole_rows = from == 0 && end - begin >= n;
    const std::int64_t rows = whole_rows ? std::min(call.inner.rows - row, (end - begin) / n) : 1;
    const std::int64_t count = whole_rows ? n : std::min(n - from, end - begin);
    part_of_block(call, position, row, rows, from, count, call.y + begin * call.size);
    begin += rows * count;
    from = 0;
    row += rows;
    if (row == call.inner.rows) {
      row = 0;
      position.next();
    }
  }
}

/// The bytes that a plan touches, an operand's repeated elements counted once.
std::int64_t touched_bytes(const BroadcastPlan& plan, std::int64_t size) {
  std::int64_t a = 1;
  std::int64_t b = 1;
  for (const BroadcastLoop& loop : plan.loops) {
    if (loop.a_step != 0) a *= loop.extent;
    if (loop.b_step != 0) b *= loop.extent;
  }
  return (a + b + plan.elements) * size;
}

std::int64_t count_tasks(const BroadcastPlan& plan, std::int64_t size, std::int64_t unit, const ThreadPool& pool) {
  if (pool.threads() == 1) return 1;
  const std::int64_t units = (plan.elements + unit - 1) / unit;
  const std::int64_t worthwhile = touched_bytes(plan, size) / kBytesPerTask;
  return std::clamp<std::int64_t>(pool.threads() * kTasksPerThread, 1,
                                  std::max<std::int64_t>(1, std::min(units, worthwhile)));
}

}  // namespace

void run(const BroadcastPlan& plan, RowsFunction kernel, ElementType type, const std::byte* a, const std::byte* b,
         std::byte* y, const ThreadPool& pool) {
  if (plan.elements == 0) return;
  const Call call = take_apart(plan, kernel, type, a, b, y);
  const bool tiles = want_tiles(call, plan.elements);
  const std::int64_t unit = tiles ? tile_unit(call) : kLineBytes / call.size;
  const std::int64_t tasks = count_tasks(plan, call.size, unit, pool);
  const std::int64_t units = (plan.elements + unit - 1) / unit;
  pool.run(tasks, [&](std::int64_t task) {
    const std::int64_t begin = units * task / tasks * unit;
    const std::int64_t end = std::min(units * (task + 1) / tasks * unit, plan.elements);
    tiles ? run_tiles(call, begin, end) : run_blocks(call, begin, end);
    if (call.inner.stream) hwy::FlushStream();
  });
}

}  // namespace binet::kernels::elementwise
