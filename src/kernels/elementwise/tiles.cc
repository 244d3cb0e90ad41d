#include "kernels/elementwise/tiles.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/walk.h"

namespace binet::kernels::elementwise {
namespace {

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
        kernel_(plan.kernel),
        data_(data) {}

  void move_to(std::int64_t position) {
    from_ = data_ + (position << log2_size_);
    readable_ = layout_.elements - position;
  }

  /// The operand as it is, or is laid out, for so many bytes of y.
  InOrder in_order(std::int64_t bytes) {
    if (layout_.continuous) return {from_, false};
    const InOrder laid_out{tile_.data(), kernel_.lays_out_converted};
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
    if (kernel_.lays_out_converted) {
      if (from_ == widened_) return copy;
      widened_ = from_;
      return widened(std::min(x.source_bytes >> log2_laid_out_, readable_), copy);
    }
    if (readable_ << log2_size_ >= x.source_bytes) return from_;
    std::memcpy(copy, from_, static_cast<std::size_t>(readable_ << log2_size_));
    return copy;
  }

  const std::byte* widened(std::int64_t elements, std::byte* copy) {
    kernel_.widening.widen(from_, elements, copy);
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
        kernel_.lays_out_converted ? widened(x.repeated_bytes >> log2_laid_out_, tile_.data()) : from_;
    repeat(row, x.repeated_bytes, x.source_bytes, padded_.data());
    return padded_.data();
  }

  const Tiling::Operand& layout_;
  // Of bytes of an element, before and behind the conversion: divisions would be felt in each tile.
  int log2_size_;
  int log2_laid_out_;
  const Kernel& kernel_;
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

std::int64_t TileCut::begin_of(const Plan& plan, std::int64_t tile) const {
  if (tile == 0) return 0;  // two divisions, which are felt where there is one small tile
  const Tiling& tiling = *plan.tiling;
  const std::int64_t turn = std::max<std::int64_t>(0, tile % tiles * tiling.turns - missing);
  return (tile / tiles * tiling.extent + turn) * tiling.turn_elements;
}

TileCut cut_tiles(const Plan& plan, const std::byte* y, bool streams) {
  const Tiling& tiling = *plan.tiling;
  const TileCut as_planned{0, tiling.tiles, tiling.all_tiles};
  if (!streams || !tiling.begins_lines || tiling.tiles == 1 || bytes_in_line(y) == 0) return as_planned;
  const std::int64_t turn_bytes = tiling.turn_elements * plan.size;
  for (std::int64_t turns = 1; turns < std::min(tiling.turns, kLineBytes); ++turns) {
    if (bytes_in_line(y + turns * turn_bytes) != 0) continue;
    const std::int64_t missing = tiling.turns - turns;
    const std::int64_t tiles = (tiling.extent + missing + tiling.turns - 1) / tiling.turns;
    return {missing, tiles, tiling.all_tiles / tiling.tiles * tiles};
  }
  return as_planned;
}

void run_tiles(const Plan& plan, const TileCut& cut, const std::byte* a_data, const std::byte* b_data, std::byte* y,
               OpenLine* stream, std::int64_t begin, std::int64_t end) {
  const Tiling& tiling = *plan.tiling;
  const BroadcastLoop& loop = plan.loops.loops[tiling.loop];
  Operand a(tiling.a, plan, a_data);
  Operand b(tiling.b, plan, b_data);
  BlockPosition outer(std::span(plan.loops.loops).first(tiling.loop), begin == 0 ? 0 : begin / cut.tiles);
  const std::int64_t first = begin == 0 ? 0 : begin % cut.tiles;
  std::int64_t turn = first == 0 ? 0 : first * tiling.turns - cut.missing;
  y += cut.begin_of(plan, begin) * plan.size;
  Rows all;
  all.stream = stream;
  all.fetch = stream == nullptr && plan.rows.fetch;
  const Expansion& fused = (tiling.a.fused ? tiling.a : tiling.b).expansion;
  const bool in_registers = stream == nullptr || fused.functions.streams_anywhere;
  for (; begin < end; ++begin) {
    const std::int64_t turns = std::min(tiling.turns - (turn == 0 ? cut.missing : 0), tiling.extent - turn);
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
