// Room: kernels. Which products of one row keep all their sums in registers (one_row-inl.h).
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Where that is faster than tiles side by side, or passing over some rows of B at a time.
[[nodiscard]] bool keeps_sums_in_registers(const Problem& problem, const Kernels& kernels);

/// So many rows of B then have loads of their own: two take turns, unless hardware prefetchers follow one run best.
[[nodiscard]] std::int64_t rows_of_b_in_turns(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
