// Room: kernels. Short inner loops. A row of 1, 3 or 5 elements fills no vector, and the loop around it costs more than
// the arithmetic. So the operands of many rows are first laid out element by element, as y needs them, in two tiles
// that stay in the first-level cache, and the kernel multiplies the tiles as one long row.
//
// An operand that runs through memory as y does needs no tile. One that every row repeats is laid out once per block.
#pragma once

#include "kernels/elementwise/walk.h"

namespace binet::kernels::elementwise {

/// Whether tiles are faster than handing the rows to the kernel one by one.
[[nodiscard]] bool want_tiles(const Call& call, std::int64_t elements);

/// What the bounds of run_tiles must be multiples of, in elements of y.
[[nodiscard]] std::int64_t tile_unit(const Call& call);

/// Computes the elements [begin, end) of y.
void run_tiles(const Call& call, std::int64_t begin, std::int64_t end);

}  // namespace binet::kernels::elementwise
