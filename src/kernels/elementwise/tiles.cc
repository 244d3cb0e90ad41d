#include "kernels/elementwise/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels/elementwise/long_rows.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/walk.h"

namespace binet::kernels::elementwise {
namespace {

/// A tile or a table, and as much of the other operand and of y, stay in a first-level cache of 32 KiB; and a tile has
/// so many stores that the first of them have reached the cache when the kernel reads the tile back.
constexpr std::int64_t kTileBytes = 8192;
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

/// The operand that moves more often is laid out while computing, unless even that one stays for long. Returns whether
/// the other one then still moves often.
bool fuse(Tiling& tiling, std::span<const BroadcastLoop> loops) {
  const auto tiles_of = [&](const Tiling::Operand& x, std::int64_t BroadcastLoop::*step) {
    return x.expansion.functions.compute == nullptr ? kManyTiles : tiles_between_moves(tiling, loops, step);
  };
  const std::int64_t a = tiles_of(tiling.a, &BroadcastLoop::a_step);
  const std::int64_t b = tiles_of(tiling.b, &BroadcastLoop::b_step);
  if (std::min(a, b) < kManyTiles) (a < b ? tiling.a : tiling.b).fused = true;
  return !tiling.a.continuous && !tiling.b.continuous && std::max(a, b) < kManyTiles;
}

/// Whether every tile begins where a cache line of y does, if y does.
bool begins_lines(const Tiling& tiling, std::int64_t size) {
  const std::int64_t turn_bytes = tiling.turn_elements * size;
  return (tiling.tiles == 1 || tiling.turns * turn_bytes % kLineBytes == 0) &&
         (tiling.loop == 0 || tiling.extent * turn_bytes % kLineBytes == 0);
}

/// Of computing a byte of y, as Lookup counts: what the operands cost, the way from one tile to the next, and what is
/// lost where each vector lies across two cache lines of y.
double cost_of(const Tiling& tiling, std::span<const BroadcastLoop> loops, std::int64_t size) {
  constexpr double kCostOfTile = 24;
  constexpr double kCostOfBrokenLine = 1;
  const auto cost_of_operand = [&](const Tiling::Operand& x, std::int64_t BroadcastLoop::*step) {
    if (x.continuous) return 0.0;
    const double cost = x.expansion.cost * static_cast<double>(tiling.laid_out_size) / static_cast<double>(size);
    return x.fused ? cost : cost / static_cast<double>(tiles_between_moves(tiling, loops, step));
  };
  return cost_of_operand(tiling.a, &BroadcastLoop::a_step) + cost_of_operand(tiling.b, &BroadcastLoop::b_step) +
         kCostOfTile / static_cast<double>(tiling.turns * tiling.turn_elements * size) +
         (begins_lines(tiling, size) ? 0 : kCostOfBrokenLine / kLineBytes);
}

/// `laid_out_bytes`: of an operand's tile.
Tiling tiling_of(const BroadcastPlan& plan, std::int64_t size, const Kernel& kernel, std::int64_t laid_out_bytes) {
  const std::span<const BroadcastLoop> loops = plan.loops;
  Tiling tiling;
  tiling.laid_out_size = kernel.widening.size == 0 ? size : kernel.widening.size;
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
  tiling.both_move = fuse(tiling, loops);
  tiling.cost = cost_of(tiling, loops, size);
  return tiling;
}

/// `row` again and again.
void repeat(const std::byte* row, std::int64_t row_bytes, std::int64_t bytes, std::byte* to) {
  std::int64_t there = 0;
  const auto append = [&](const std::byte* from, std::int64_t more) {
    more = std::min(more, bytes - there);
    std::memcpy(to + there, from, static_cast<std::size_t>(more));
    there += more;
  };
  // What was just written is slow to read; but there should not be many copies of a short row.
  while (there < std::min(bytes, 3 * kLineBytes)) append(row, row_bytes);
  while (there < bytes) append(to, there);
}

/// Of a power of two.
int log2_of(std::int64_t n) { return std::countr_zero(static_cast<std::uint64_t>(n)); }

/// One operand of a call, and its tile.
class Operand {
 public:
  Operand(const Tiling::Operand& layout, const Plan& plan, const std::byte* data)
      : layout_(layout),
        log2_size_(log2_of(plan.size)),
        log2_laid_out_(log2_of(plan.tiling->laid_out_size)),
        widening_(plan.kernel.widening),
        data_(data) {}

  void move_to(std::int64_t position) {
    from_ = data_ + (position << log2_size_);
    readable_ = layout_.elements - position;
  }

  /// The operand as it is, or is laid out, for so many bytes of y.
  InOrder in_order(std::int64_t bytes) {
    if (layout_.continuous) return {from_, false};
    const InOrder laid_out{tile_.data(), widening_.size != 0};
    if (from_ == laid_out_ && bytes <= laid_out_bytes_) return laid_out;
    laid_out_ = from_;
    laid_out_bytes_ = bytes;
    const Expansion& x = layout_.expansion;
    const std::int64_t tile_bytes = bytes >> log2_size_ << log2_laid_out_;
    x.functions.expand(x, source(), (tile_bytes + x.chunk_bytes - 1) >> log2_of(x.chunk_bytes), tile_.data());
    return laid_out;
  }

  void compute(Operand& other, std::int64_t bytes, std::byte* y, OpenLine* stream, bool fetch) {
    const Expansion& x = layout_.expansion;
    x.functions.compute(x, source(), other.in_order(bytes), bytes, y, stream, fetch);
  }

 private:
  const std::byte* source() {
    const Expansion& x = layout_.expansion;
    if (x.repeated_bytes != 0) return repeated_row(x);
    return x.copy != nullptr ? shorter_copy(*x.copy) : whole_windows(x, padded_.data());
  }

  /// Lookups read whole windows: near the operand's end, from a copy.
  const std::byte* whole_windows(const Expansion& x, std::byte* copy) {
    if (widening_.size != 0) {
      if (from_ == widened_) return copy;
      widened_ = from_;
      return widened(std::min(x.source_bytes >> log2_laid_out_, readable_), copy);
    }
    if (readable_ << log2_size_ >= x.source_bytes) return from_;
    std::memcpy(copy, from_, static_cast<std::size_t>(readable_ << log2_size_));
    return copy;
  }

  const std::byte* widened(std::int64_t elements, std::byte* copy) {
    widening_.widen(from_, elements, copy);
    return copy;
  }

  const std::byte* shorter_copy(const Expansion& x) {
    if (from_ == repeated_) return padded_.data();
    repeated_ = from_;
    // tile_ is free: this operand is computed from padded_, or about to be laid out from there.
    const std::byte* const windows = whole_windows(x, tile_.data());
    x.functions.expand(x, windows, static_cast<std::int64_t>(x.chunks.size()), padded_.data());
    return padded_.data();
  }

  const std::byte* repeated_row(const Expansion& x) {
    if (from_ == repeated_) return padded_.data();
    repeated_ = from_;
    // tile_ is free, as above.
    const std::byte* const row =
        widening_.size == 0 ? from_ : widened(x.repeated_bytes >> log2_laid_out_, tile_.data());
    repeat(row, x.repeated_bytes, x.source_bytes, padded_.data());
    return padded_.data();
  }

  const Tiling::Operand& layout_;
  // Of bytes of an element, before and behind the conversion: divisions would be felt in each tile.
  int log2_size_;
  int log2_laid_out_;
  const Widening& widening_;
  const std::byte* data_;
  const std::byte* from_ = nullptr;
  std::int64_t readable_ = 0;            // elements from there on
  const std::byte* repeated_ = nullptr;  // in padded_
  const std::byte* widened_ = nullptr;   // there, too, but for a shorter copy
  const std::byte* laid_out_ = nullptr;  // in tile_
  std::int64_t laid_out_bytes_ = 0;
  // The last chunk, and the last window, may reach beyond the tile.
  alignas(kLineBytes) std::array<std::byte, kTileBytes + kLineBytes> tile_;
  alignas(kLineBytes) std::array<std::byte, kTileBytes + kLineBytes> padded_;
};

/// Both operands are in the order of y.
void run_row(const Kernel& kernel, const Rows& row, InOrder a, InOrder b, std::byte* y) {
  if (a.is_converted) std::swap(a, b);
  const RowsFunction function = a.is_converted   ? kernel.widening.both
                                : b.is_converted ? kernel.widening.one
                                                 : kernel.rows;
  function(row, a.data, b.data, y);
}

}  // namespace

std::optional<Tiling> make_tiling(const BroadcastPlan& plan, std::int64_t size, Reach reach, const Kernel& kernel) {
  const std::span<const BroadcastLoop> loops = plan.loops;
  if (loops.size() < 2) return {};
  const std::int64_t row_bytes = loops.back().extent * size;
  const bool several_blocks = loops.size() > 2 && row_bytes < kLineBytes;
  if (!several_blocks && plan.elements < loops.back().extent * kFewestRows) return {};
  const std::int64_t block_rows = (loops.end() - 2)->extent;
  const bool in_small_blocks = loops.size() > 2 && block_rows < kFewestRows;
  const bool broken_lines = reach == Reach::streamed && row_bytes % kLineBytes != 0;
  const RowKind row{row_bytes,       size,      loops.back().b_step == 0, reach != Reach::near, broken_lines,
                    in_small_blocks, block_rows};
  if (is_long(row, kernel)) return {};
  Tiling best = tiling_of(plan, size, kernel, kTileBytes);
  Tiling smaller = tiling_of(plan, size, kernel, kTileBytes / 2);
  if (smaller.cost < best.cost) best = std::move(smaller);
  if (is_long_for_tiles(row, kernel, best)) return {};
  return best;
}

std::int64_t begin_of_tile(const Plan& plan, std::int64_t tile) {
  if (tile == 0) return 0;  // two divisions, which are felt where there is one small tile
  const Tiling& tiling = *plan.tiling;
  const std::int64_t turn = tile % tiling.tiles * tiling.turns;
  return (tile / tiling.tiles * tiling.extent + turn) * tiling.turn_elements;
}

void run_tiles(const Plan& plan, const std::byte* a_data, const std::byte* b_data, std::byte* y, OpenLine* stream,
               std::int64_t begin, std::int64_t end) {
  const Tiling& tiling = *plan.tiling;
  const BroadcastLoop& loop = plan.loops.loops[tiling.loop];
  Operand a(tiling.a, plan, a_data);
  Operand b(tiling.b, plan, b_data);
  BlockPosition outer(std::span(plan.loops.loops).first(tiling.loop), begin == 0 ? 0 : begin / tiling.tiles);
  std::int64_t turn = begin == 0 ? 0 : begin % tiling.tiles * tiling.turns;
  y += begin_of_tile(plan, begin) * plan.size;
  Rows all;
  all.stream = stream;
  all.fetch = stream == nullptr && plan.rows.fetch;
  const Expansion& fused = (tiling.a.fused ? tiling.a : tiling.b).expansion;
  const bool in_registers = stream == nullptr || fused.functions.streams_anywhere;
  for (; begin < end; ++begin) {
    const std::int64_t turns = std::min(tiling.turns, tiling.extent - turn);
    all.elements = turns * tiling.turn_elements;
    const std::int64_t bytes = all.elements * plan.size;
    a.move_to(outer.a() + turn * loop.a_step);
    b.move_to(outer.b() + turn * loop.b_step);
    const bool fuses = in_registers || (bytes_in_line(y) == 0 && bytes % kLineBytes == 0);
    if (tiling.a.fused && fuses) {
      a.compute(b, bytes, y, stream, all.fetch);
    } else if (tiling.b.fused && fuses) {
      b.compute(a, bytes, y, stream, all.fetch);
    } else {
      run_row(plan.kernel, all, a.in_order(bytes), b.in_order(bytes), y);
    }
    y += bytes;
    turn += turns;
    if (turn == tiling.extent) {
      turn = 0;
      outer.next();
    }
  }
}

}  // namespace binet::kernels::elementwise
