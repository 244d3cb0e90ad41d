// Room: kernels. Which products keep B in registers (short_k-inl.h).
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Where that is faster than tiles.
[[nodiscard]] bool keeps_b_in_registers(const Problem& problem, const Kernels& kernels);

/// Whether such a product fetches lines of Y before it writes them: of a Y that is far, where stores wait for them.
/// A nearer one would take up to 1.3 times as long, as would one with a C as large, whose loads come first. Measured on
/// Zen 5.
[[nodiscard]] bool fetches_far_y(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
