// Room: kernels. When Y^T = op(B)^T * op(A)^T is computed instead of Y: its columns fill vectors better than those of
// Y, or an operand lies better for it. The bits are the same.
#pragma once

#include "base/target.h"
#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether it is, on such a target. A packed B is not.
[[nodiscard]] bool should_swap(const Problem& problem, const Kernels& kernels, const Target& target, bool b_is_packed);

/// Whether A is transposed, and columns of Y so few, or leave so much of their vectors empty, that many rows would
/// swap. It does not depend on M: a constant B is kept for that as it lies.
[[nodiscard]] bool has_columns_to_swap(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
