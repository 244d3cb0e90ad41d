// Room: kernels. Laying out an operand that a broadcast repeats: element by element, in the order in which y needs it.
//
// The order is the same wherever the operand begins, so it is worked out once, for a whole tile, as table lookups: each
// chunk of the tile is taken from one or two windows, runs of bytes of the operand that fit a register, by a shuffle.
// A row of 3 elements and each element 3 times are then the same work, about one shuffle a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/elementwise/open_line.h"
#include "tensor/broadcast.h"

namespace binet::kernels::elementwise {

struct Expansion;

/// Writes the first `chunks` chunks of the tile.
using ExpandFunction = void (*)(const Expansion& expansion, const std::byte* from, std::int64_t chunks, std::byte* to);

/// An operand in the order of y.
struct InOrder {
  const std::byte* data = nullptr;
  bool is_converted = false;  ///< as Widening converts elements
};

/// Computes the first `bytes` bytes of y from the operand and another one, without the tile in between. y may be
/// `other`. `stream`, `fetch`: as in Rows.
using ComputeFunction = void (*)(const Expansion& expansion, const std::byte* from, InOrder other, std::int64_t bytes,
                                 std::byte* y, OpenLine* stream, bool fetch);

struct ExpansionFunctions {
  ExpandFunction expand = nullptr;
  ComputeFunction compute = nullptr;  ///< may be null
  bool streams_anywhere = false;      ///< what compute() streams need not be whole lines
};

struct Expansion {
  /// Where the windows of a chunk begin, in bytes, and how many of the chunk's first units come from the first one.
  struct Chunk {
    std::int32_t first;
    std::int32_t second;
    std::int32_t split;
  };

  ExpansionFunctions functions;
  std::int64_t chunk_bytes = 0;  ///< a power of two
  double cost = 0;               ///< of a byte, as Lookup counts it
  /// How far the windows reach: so many bytes must be readable from where the operand begins.
  std::int64_t source_bytes = 0;
  /// Not 0: the operand is a row of so many bytes that every turn of the outermost loop repeats. It is read from a copy
  /// in which it is repeated as far as the windows reach.
  std::int64_t repeated_bytes = 0;
  /// Not null: the windows are in a copy, the tile with fewer turns of a loop that repeats what is inside it.
  std::unique_ptr<Expansion> copy;
  std::vector<Chunk> chunks;
  /// The place in its window of each unit of a chunk, by chunk and window. Mostly in bytes, whatever the shuffles take:
  /// tables share the first-level cache, and its loads, with the operands.
  AlignedBuffer table;
};

/// One kind of lookup that a target has.
struct Lookup {
  std::int32_t chunk;       ///< bytes that it makes
  std::int32_t window;      ///< bytes that it chooses from
  std::int32_t unit;        ///< bytes that it moves as one
  double window_cost;       ///< of choosing from one window; all else that a chunk costs is 1
  double windows_cost;      ///< of choosing from two
  ExpansionFunctions same;  ///< from one window, the same for all chunks
  ExpansionFunctions one;   ///< from one window
  ExpansionFunctions two;   ///< from two; null where it can only move whole elements, without a table
  bool joint;               ///< of two windows: one table counts on from the first into the second
  std::int32_t same_place;  ///< bytes of a place in the tables of `same`, the lowest first; in the others' it is one
  /// Of the first of a list only. Whole windows, without a table.
  ExpansionFunctions runs;
  /// The end of a run of bytes and the beginning of another, or all one, without a table; may be null there, too.
  ExpansionFunctions two_runs;
};

/// Element by element: what every target can do, in any order of places.
template <std::size_t kSize>
void move_elements(const Expansion& x, const std::byte* from, std::int64_t chunks, std::byte* to) {
  for (std::int64_t i = 0; i < chunks; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(kSize), from + x.chunks[static_cast<std::size_t>(i)].first, kSize);
  }
}

template <std::size_t kSize>
inline constexpr Lookup kMoveElements = {
    kSize, kSize, kSize, 1,  1, {&move_elements<kSize>, nullptr}, {&move_elements<kSize>, nullptr},
    {},    false, 1,     {}, {}};

/// Plans the layout of an operand that moves by `step` at each turn of the loops, in elements of `size` bytes,
/// by the lookups that serve it best; the last of them must be kMoveElements.
[[nodiscard]] Expansion make_expansion(std::span<const BroadcastLoop> loops, std::int64_t BroadcastLoop::*step,
                                       std::int64_t size, std::span<const Lookup> lookups);

}  // namespace binet::kernels::elementwise
