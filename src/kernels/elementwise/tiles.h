// Room: kernels. Short inner loops. A row of 1, 3 or 5 elements fills no vector, and the loop around it costs more than
// the arithmetic. So the operands are first laid out element by element, as y needs them, in two tiles that stay in the
// first-level cache, and the kernel multiplies the tiles as one long row. The plan has said how (tiling.h).
#pragma once

#include <cstdint>

#include "kernels/elementwise/open_line.h"

namespace binet::kernels::elementwise {

struct Plan;

/// The tiles of a call.
struct TileCut {
  std::int64_t missing = 0;  ///< turns by which the first one of each way through the loop is shorter
  std::int64_t tiles = 0;    ///< to go through the loop once
  std::int64_t all = 0;

  /// The first element of y in a tile.
  [[nodiscard]] std::int64_t begin_of(const Plan& plan, std::int64_t tile) const;
};

/// Where y is streamed, tiles begin lines of it if turns of the loop do.
[[nodiscard]] TileCut cut_tiles(const Plan& plan, const std::byte* y, bool streams);

/// Computes the tiles [begin, end). `stream`: as in Rows.
void run_tiles(const Plan& plan, const TileCut& cut, const std::byte* a, const std::byte* b, std::byte* y,
               OpenLine* stream, std::int64_t begin, std::int64_t end);

}  // namespace binet::kernels::elementwise
