#include "kernels/elementwise/tiling.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/elementwise/long_rows.h"
#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {
namespace {

/// Laying out has a fixed cost, about that of so many short rows of one block; blocks have theirs.
constexpr std::int64_t kFewestRows = 12;

/// `loops` are those of a whole tile, `size` is that of what is laid out.
Tiling::Operand make_operand(std::span<const BroadcastLoop> all_loops, std::span<const BroadcastLoop> loops,
                             std::int64_t BroadcastLoop::*step, std::int64_t size, std::span<const Lookup> lookups) {
  Tiling::Operand x;
  for (const BroadcastLoop& loop : all_loops) x.elements *= loop.*step == 0 ? 1 : loop.extent;
  x.continuous = std::all_of(loops.begin(), loops.end(), [step](const BroadcastLoop& l) { return l.*step != 0; });
  if (!x.continuous) x.expansion = make_expansion(loops, step, size, lookups);
  return x;
}

/// So many turns that all tiles are about equal, and begin at the same place of a cache line where that is possible.
std::int64_t turns_in_tile(std::int64_t extent, std::int64_t turn_bytes, std::int64_t tile_bytes) {
  const std::int64_t most = std::max<std::int64_t>(1, tile_bytes / turn_bytes);
  if (extent <= most) return extent;
  const std::int64_t tiles = (extent + most - 1) / most;
  const std::int64_t even = (extent + tiles - 1) / tiles;
  const std::int64_t line = kLineBytes / std::gcd(turn_bytes, kLineBytes);
  const std::int64_t whole_lines = (even + line - 1) / line * line;
  if (whole_lines <= most) return whole_lines;
  return most >= line ? most / line * line : even;
}

/// For how many tiles an operand stays where it is.
std::int64_t tiles_between_moves(const Tiling& tiling, std::span<const BroadcastLoop> loops,
                                 std::int64_t BroadcastLoop::*step) {
  if (tiling.tiles > 1 && loops[tiling.loop].*step != 0) return 1;
  std::int64_t tiles = tiling.tiles;
  for (std::size_t k = tiling.loop; k-- > 0 && loops[k].*step == 0;) tiles *= loops[k].extent;
  return tiles;
}

/// What stays for so many tiles costs next to nothing to lay out.
constexpr std::int64_t kManyTiles = 8;

/// Whether a vector of shuffled elements is taken apart, and each half converted, on its way into the operation.
bool takes_apart(const Expansion& x, const Kernel& kernel) {
  return kernel.widening.size != 0 && !kernel.lays_out_converted && x.table.size() != 0;
}

/// For how many tiles an operand must stay so that laying it out once takes less than shuffling it on its way into each
/// of them. Measured with vectors shorter than a line: 0.63 to 0.98 of the time from there on.
std::int64_t tiles_worth_laying_out(const Expansion& x, const Kernel& kernel) {
  if (kernel.lookups.front().chunk == kLineBytes) return kManyTiles;
  return takes_apart(x, kernel) ? 2 : 3;
}

/// The operand that moves more often is laid out while computing, unless even that one stays for long enough. Returns
/// whether the other one then still moves often.
bool fuse(Tiling& tiling, std::span<const BroadcastLoop> loops, const Kernel& kernel) {
  const auto tiles_of = [&](const Tiling::Operand& x, std::int64_t BroadcastLoop::*step) {
    return x.expansion.functions.compute == nullptr ? kManyTiles : tiles_between_moves(tiling, loops, step);
  };
  const std::int64_t a = tiles_of(tiling.a, &BroadcastLoop::a_step);
  const std::int64_t b = tiles_of(tiling.b, &BroadcastLoop::b_step);
  Tiling::Operand& x = a < b ? tiling.a : tiling.b;
  x.fused = std::min(a, b) < tiles_worth_laying_out(x.expansion, kernel);
  return !tiling.a.continuous && !tiling.b.continuous && std::max(a, b) < kManyTiles;
}

bool tiles_begin_lines(const Tiling& tiling, std::int64_t size) {
  const std::int64_t turn_bytes = tiling.turn_elements * size;
  return (tiling.tiles == 1 || tiling.turns * turn_bytes % kLineBytes == 0) &&
         (tiling.loop == 0 || tiling.extent * turn_bytes % kLineBytes == 0);
}

/// How many of the tiles of one way through the loop end in a part of a chunk, which is computed apart. Vectors as long
/// as a line have masks for that, which cost nothing.
std::int64_t count_parts(const Tiling& tiling) {
  const std::int64_t chunk = (tiling.a.fused ? tiling.a : tiling.b).expansion.chunk_bytes;
  if (!(tiling.a.fused || tiling.b.fused) || chunk == kLineBytes) return 0;
  const auto is_part = [&](std::int64_t turns) {
    return std::int64_t{turns * tiling.turn_elements * tiling.laid_out_size % chunk != 0};
  };
  const std::int64_t whole_tiles = tiling.extent / tiling.turns;
  return whole_tiles * is_part(tiling.turns) + is_part(tiling.extent % tiling.turns);
}

/// Of a byte of an operand that is shuffled on its way into the operation, beside the shuffles.
double cost_on_the_way(const Expansion& x, const Kernel& kernel) {
  constexpr double kCostOfTakingApart = 0.75;
  return takes_apart(x, kernel) ? kCostOfTakingApart / static_cast<double>(x.chunk_bytes) : 0;
}

/// Of computing a byte of y, as Lookup counts: what the operands cost, the way from one tile to the next, what is lost
/// where each vector lies across two cache lines of y, and parts of chunks.
double cost_of(const Tiling& tiling, std::span<const BroadcastLoop> loops, std::int64_t size, const Kernel& kernel) {
  constexpr double kCostOfTile = 24;
  constexpr double kCostOfPart = 24;
  constexpr double kCostOfBrokenLine = 1;
  const auto cost_of_operand = [&](const Tiling::Operand& x, std::int64_t BroadcastLoop::*step) {
    if (x.continuous) return 0.0;
    const double cost = x.expansion.cost * static_cast<double>(tiling.laid_out_size) / static_cast<double>(size);
    if (x.fused) return cost + cost_on_the_way(x.expansion, kernel);
    return cost / static_cast<double>(tiles_between_moves(tiling, loops, step));
  };
  return cost_of_operand(tiling.a, &BroadcastLoop::a_step) + cost_of_operand(tiling.b, &BroadcastLoop::b_step) +
         kCostOfTile / static_cast<double>(tiling.turns * tiling.turn_elements * size) +
         kCostOfPart * static_cast<double>(count_parts(tiling)) /
             static_cast<double>(tiling.extent * tiling.turn_elements * size) +
         (tiling.begins_lines ? 0 : kCostOfBrokenLine / kLineBytes);
}

/// `laid_out_bytes`: of an operand's tile.
Tiling tiling_of(const BroadcastPlan& plan, std::int64_t size, const Kernel& kernel, std::int64_t laid_out_bytes) {
  const std::span<const BroadcastLoop> loops = plan.loops;
  Tiling tiling;
  tiling.laid_out_size = kernel.laid_out_size(size);
  const std::int64_t tile_bytes = laid_out_bytes / tiling.laid_out_size * size;
  tiling.loop = loops.size() - 1;
  tiling.turn_elements = 1;
  for (;;) {
    const std::int64_t inner = tiling.turn_elements * loops[tiling.loop].extent;
    if (tiling.loop == 0 || inner * size > tile_bytes / 2) break;
    tiling.turn_elements = inner;
    --tiling.loop;
  }
  tiling.extent = loops[tiling.loop].extent;
  tiling.turns = turns_in_tile(tiling.extent, tiling.turn_elements * size, tile_bytes);
  tiling.tiles = (tiling.extent + tiling.turns - 1) / tiling.turns;
  tiling.all_tiles = plan.elements / (tiling.extent * tiling.turn_elements) * tiling.tiles;
  std::vector<BroadcastLoop> inside(loops.begin() + static_cast<std::ptrdiff_t>(tiling.loop), loops.end());
  inside.front().extent = tiling.turns;
  tiling.a = make_operand(loops, inside, &BroadcastLoop::a_step, tiling.laid_out_size, kernel.lookups);
  tiling.b = make_operand(loops, inside, &BroadcastLoop::b_step, tiling.laid_out_size, kernel.lookups);
  tiling.begins_lines = tiles_begin_lines(tiling, size);
  tiling.both_move = fuse(tiling, loops, kernel);
  tiling.cost = cost_of(tiling, loops, size, kernel);
  return tiling;
}

RowKind kind_of(const BroadcastPlan& plan, std::int64_t size, Reach reach, const Kernel& kernel) {
  const std::span<const BroadcastLoop> loops = plan.loops;
  const std::int64_t row_bytes = loops.back().extent * size;
  const std::int64_t block_rows = (loops.end() - 2)->extent;
  const bool spreads = loops.back().b_step == 0;
  const bool is_streamed = reach == Reach::streamed && kernel.lanes != 0;  // plain loops store
  return {.bytes = row_bytes,
          .element_bytes = size,
          .spreads = spreads,
          .spreads_anew = spreads && loops.size() == 2 && loops.front().b_step != 0,
          .runs_on = spreads && (loops.end() - 2)->a_step == loops.back().extent,
          .leaves_l1 = reach != Reach::nearest,
          .leaves_l2 = reach >= Reach::shared,
          .is_far = reach >= Reach::far,
          .is_streamed = is_streamed,
          .streams_broken_lines = is_streamed && row_bytes % kLineBytes != 0,
          .in_small_blocks = loops.size() > 2 && block_rows < kFewestRows,
          .block_rows = block_rows,
          .all_rows = plan.elements / loops.back().extent};
}

/// Whether rows by themselves take less than the tiles.
bool is_better_by_rows(const RowKind& row, const Kernel& kernel, const Tiling& tiling) {
  return is_long(row, kernel) || is_long_for_tiles(row, kernel, tiling);
}

}  // namespace

std::optional<Tiling> make_tiling(const BroadcastPlan& plan, std::int64_t size, Reach reach, const Kernel& kernel) {
  const std::span<const BroadcastLoop> loops = plan.loops;
  if (loops.size() < 2) return {};
  const RowKind row = kind_of(plan, size, reach, kernel);
  const bool several_blocks = loops.size() > 2 && row.bytes < kLineBytes;
  if (!several_blocks && plan.elements < loops.back().extent * kFewestRows) return {};
  RowKind anywhere = row;  // where y begins no line
  anywhere.streams_broken_lines = row.is_streamed && (row.streams_broken_lines || needs_begun_lines(kernel));
  if (is_long(anywhere, kernel)) return {};
  Tiling best = tiling_of(plan, size, kernel, kTileBytes);
  Tiling smaller = tiling_of(plan, size, kernel, kTileBytes / 2);
  if (smaller.cost < best.cost) best = std::move(smaller);
  best.is_for_broken_lines = !row.streams_broken_lines && is_better_by_rows(row, kernel, best);
  if (best.is_for_broken_lines && !anywhere.streams_broken_lines) return {};
  if (row.is_streamed) {
    RowKind stored = row;
    stored.is_streamed = stored.streams_broken_lines = false;
    best.is_to_stream = best.is_for_broken_lines || is_better_by_rows(stored, kernel, best);
    best.is_better_stored = anywhere.streams_broken_lines && best.is_to_stream && is_better_stored(row, kernel, best);
  }
  return best;
}

}  // namespace binet::kernels::elementwise
