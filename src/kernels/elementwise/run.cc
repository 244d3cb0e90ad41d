// Room: kernels. Running a plan, on one thread or several.
//
// y is cut into one range of elements per task; what a range computes does not depend on where it was cut. A range goes
// through the blocks (the two or three innermost loops) that it touches, the first and the last perhaps in part; short
// loops go through tiles.cc instead.
#include <hwy/cache_control.h>

#include <algorithm>
#include <utility>

#include "kernels/elementwise/kept_row.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/tiles.h"
#include "kernels/elementwise/walk.h"

namespace binet::kernels::elementwise {
namespace {

/// More tasks than threads even out cores that are not equally free, if each is worth its beginning.
constexpr std::int64_t kMostTasksPerThread = 4;
constexpr std::int64_t kBytesOfOneMore = 512 * 1024;

/// As many for each thread, unless the bytes do not pay for all threads: of one task more than that all but one thread
/// would wait for the end.
std::int64_t count_tasks(const Plan& plan, std::int64_t threads) {
  if (threads == 1 || plan.tasks <= threads) return std::min(plan.tasks, threads);
  const std::int64_t paid_for = std::min(plan.touched_bytes / kBytesOfOneMore, plan.tasks) / threads;
  return threads * std::clamp(paid_for, std::int64_t{1}, kMostTasksPerThread);
}

struct Addresses {
  const std::byte* a;
  const std::byte* b;
  std::byte* y;
};

/// Some blocks, which the kernel takes at once or one by one.
void run_blocks(const Plan& plan, const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y) {
  if (rows.blocks == 1 || plan.kernel.takes_blocks(rows)) return run_block(plan.kernel, rows, a, b, y);
  Rows block = rows;
  block.blocks = 1;
  for (std::int64_t i = 0; i < rows.blocks; ++i) {
    run_block(plan.kernel, block, a, b, y);
    a += rows.a_block_step * plan.size;
    b += rows.b_block_step * plan.size;
    y += rows.rows * rows.elements * plan.size;
  }
}

std::span<const BroadcastLoop> loops_around(const Plan& plan) {
  const std::span<const BroadcastLoop> loops = plan.loops.loops;
  return loops.first(loops.size() - std::min<std::size_t>(loops.size(), plan.rows.blocks > 1 ? 3 : 2));
}

void run_rows(const Plan& plan, const Addresses& at, bool is_far, OpenLine* stream, std::int64_t begin,
              std::int64_t end) {
  const std::int64_t n = plan.rows.elements;
  const std::int64_t block = plan.rows.rows * n;
  const std::int64_t all_blocks = plan.rows.blocks * block;
  BlockPosition position(loops_around(plan), begin / all_blocks);
  std::int64_t turn = begin % all_blocks / block;
  std::int64_t row = begin % block / n;
  std::int64_t from = begin % n;
  Rows part = plan.rows;
  part.stream = stream;
  part.fetch = stream == nullptr && plan.rows.fetch;
  part.is_far = is_far;
  while (begin < end) {
    const std::int64_t left = end - begin;
    const bool whole_rows = from == 0 && left >= n;
    const bool whole_blocks = row == 0 && from == 0 && left >= block;
    // Without a division, but for the last block: blocks may be small.
    const std::int64_t rows = plan.rows.rows - row;
    const std::int64_t blocks = plan.rows.blocks - turn;
    part.blocks = !whole_blocks ? 1 : left >= blocks * block ? blocks : left / block;
    part.rows = !whole_rows ? 1 : left >= rows * n ? rows : left / n;
    part.elements = whole_rows ? n : std::min(n - from, left);
    const std::int64_t a = position.a() + turn * part.a_block_step + row * part.a_row_step + from;
    const std::int64_t b = position.b() + turn * part.b_block_step + row * part.b_row_step + from * part.b_step;
    run_blocks(plan, part, at.a + a * plan.size, at.b + b * plan.size, at.y + begin * plan.size);
    begin += part.blocks * part.rows * part.elements;
    from = 0;
    row += part.rows;
    if (row < plan.rows.rows) continue;
    row = 0;
    turn += part.blocks;
    if (turn < plan.rows.blocks) continue;
    turn = 0;
    position.next();
  }
}

/// All of a result, block by block.
void run_all(const Plan& plan, const Addresses& at) {
  const std::int64_t blocks = plan.rows.blocks * plan.rows.rows * plan.rows.elements;
  BlockPosition position(loops_around(plan), 0);
  for (std::int64_t begin = 0; begin < plan.loops.elements; begin += blocks) {
    run_blocks(plan, plan.rows, at.a + position.a() * plan.size, at.b + position.b() * plan.size,
               at.y + begin * plan.size);
    position.next();
  }
}

std::int64_t units_of_rows(const Plan& plan) { return (plan.loops.elements + plan.unit - 1) / plan.unit; }

/// How a call goes through y: through tiles, cut so, or by rows.
struct Way {
  bool streams = false;
  bool through_tiles = false;
  TileCut cut;
  bool is_far = false;  ///< as Rows::is_far; tiles do not ask
};

Way way_of(const Plan& plan, const std::byte* y, bool may_stream) {
  const auto through_tiles = [&](bool streams) { return Way{streams, true, cut_tiles(plan, y, streams)}; };
  if (!plan.tiling) return {may_stream, false, {}};
  if (!may_stream) return plan.tiling->is_to_stream ? Way{} : through_tiles(false);
  if (!plan.tiling->is_for_broken_lines) return through_tiles(true);
  if (bytes_in_line(y) == 0) return {true, false, {}};
  return plan.tiling->is_better_stored ? Way{} : through_tiles(true);
}

/// The units [begin, end).
void run_units(const Plan& plan, const Addresses& at, const Way& way, OpenLine* stream, std::int64_t begin,
               std::int64_t end) {
  if (way.through_tiles) return run_tiles(plan, way.cut, at.a, at.b, at.y, stream, begin, end);
  run_rows(plan, at, way.is_far, stream, begin * plan.unit, std::min(end * plan.unit, plan.loops.elements));
}

void stream_units(const Plan& plan, const Addresses& at, const Way& way, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = way.through_tiles ? way.cut.begin_of(plan, begin) : begin * plan.unit;
  OpenLine line(at.y + first * plan.size);
  run_units(plan, at, way, &line, begin, end);
  line.close();
  hwy::FlushStream();
}

/// Whether operands come from memory: those that fill half of the last-level cache have left it when they are read.
bool are_far(const Plan& plan) { return plan.touched_bytes - plan.loops.elements * plan.size >= plan.cache_bytes / 2; }

void run_tasks(const Plan& plan, const Addresses& at, const ThreadPool& pool, Result result) {
  const std::int64_t threads = pool.threads();
  const std::int64_t tasks = count_tasks(plan, threads);
  const bool in_place = at.y == at.a || at.y == at.b;
  Way way = way_of(plan, at.y, !in_place && streams(plan, tasks == 1 ? 1 : threads, result));
  way.is_far = (in_place || way.streams) && are_far(plan);
  const std::int64_t units = way.through_tiles ? way.cut.all : units_of_rows(plan);
  pool.run(tasks, [&](std::int64_t task) {
    const std::int64_t begin = units * task / tasks;
    const std::int64_t end = units * (task + 1) / tasks;
    way.streams ? stream_units(plan, at, way, begin, end) : run_units(plan, at, way, nullptr, begin, end);
  });
}

}  // namespace

bool streams(const Plan& plan, std::int64_t threads, Result result) {
  if (plan.tiling && plan.tiling->is_better_stored && !plan.tiling->is_for_broken_lines) return false;
  if (result == Result::read_next) return plan.loops.elements * plan.size >= plan.cache_bytes;
  return plan.touched_bytes >= plan.streamed_from.by(threads);
}

void run(const Plan& plan, const std::byte* a, const std::byte* b, std::byte* y, const ThreadPool& pool,
         Result result) {
  if (plan.swapped) std::swap(a, b);
  if (plan.tasks > 1) return run_tasks(plan, {a, b, y}, pool, result);
  if (plan.tiling) return run_tiles(plan, cut_tiles(plan, y, false), a, b, y, nullptr, 0, plan.units);
  // Small, and mostly a single block: what stands around the kernel would weigh as much as the work.
  if (plan.loops.loops.size() <= 2) return run_block(plan.kernel, plan.rows, a, b, y);
  run_all(plan, {a, b, y});
}

}  // namespace binet::kernels::elementwise
