// Room: kernels. Which products keep B in registers (short_k-inl.h).
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Where that is faster than tiles.
[[nodiscard]] bool keeps_b_in_registers(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
