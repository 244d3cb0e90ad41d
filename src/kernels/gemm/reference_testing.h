// Tests: the matrix product as plain loops, one chain of additions after the other: what the kernels are held against.
#pragma once

#include <cstddef>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"

namespace binet::kernels::gemm {

/// How floats are added up; it says nothing about integers.
struct SumOrder {
  bool is_fused = true;   ///< else products are rounded before they are added
  bool by_tiles = false;  ///< in the order of tiled/amx_bf16-inl.h, else in that of order_of()
};

/// How these kernels promise to do so.
[[nodiscard]] SumOrder sum_order_of(const Problem& problem, const Kernels& kernels);

/// Computes Y; `c` may be null where the problem has no C.
void run_reference(const Problem& problem, SumOrder order, const std::byte* a, const std::byte* b, const std::byte* c,
                   std::byte* y);

}  // namespace binet::kernels::gemm
