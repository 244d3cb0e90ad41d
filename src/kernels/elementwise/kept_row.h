// Room: kernels. Blocks whose rows share one of their operands: where the kernel converts elements before it computes,
// that operand is converted once for all rows.
#pragma once

#include "kernels/elementwise/elementwise.h"

namespace binet::kernels::elementwise {

/// Fewer rows of a block do not pay for the way through memory.
[[nodiscard]] std::int64_t fewest_rows_of_kept(const Kernel& kernel) noexcept;

/// Computes one block of rows, as kernel.rows does.
void run_block(const Kernel& kernel, const Rows& rows, const std::byte* a, const std::byte* b, std::byte* y);

}  // namespace binet::kernels::elementwise
