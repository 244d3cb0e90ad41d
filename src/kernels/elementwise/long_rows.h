// Room: kernels. From which length on a row is handed to the kernel as it is, instead of going through tiles (tiles.h).
// As measured: a short row fills no vectors, a longer one is no whole lines of y, and tiles cost what they cost.
#pragma once

#include <cstdint>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/tiling.h"

namespace binet::kernels::elementwise {

/// The rows of a block.
struct RowKind {
  std::int64_t bytes = 0;
  std::int64_t element_bytes = 0;
  bool spreads = false;               ///< an operand stays over a row
  bool spreads_anew = false;          ///< a different element of it over each row
  bool runs_on = false;               ///< while the other one goes on from row to row as y does
  bool leaves_l1 = false;             ///< what the call touches is more than the first-level cache
  bool leaves_l2 = false;             ///< what the call touches is more than half of the second-level cache
  bool is_far = false;                ///< what the call touches is not all in the caches
  bool is_streamed = false;           ///< y may be streamed
  bool streams_broken_lines = false;  ///< so it may, and a row is no whole lines, or does not begin one
  bool in_small_blocks = false;       ///< a few rows, which are blocks of their own
  std::int64_t block_rows = 0;        ///< of the loop around a row
  std::int64_t all_rows = 0;          ///< of the call
};

/// Whether streamed rows suffer where they do not begin a line of y. Vectors as long as a line are joined to others.
[[nodiscard]] bool needs_begun_lines(const Kernel& kernel);

/// Whatever the tiles would be.
[[nodiscard]] bool is_long(const RowKind& row, const Kernel& kernel);

/// Of a row that is not: whether the tiles would cost more all the same.
[[nodiscard]] bool is_long_for_tiles(const RowKind& row, const Kernel& kernel, const Tiling& tiling);

/// Of rows that go through tiles only because these can be streamed: whether the tiles cost more than streaming saves.
[[nodiscard]] bool is_better_stored(const RowKind& row, const Kernel& kernel, const Tiling& tiling);

}  // namespace binet::kernels::elementwise
