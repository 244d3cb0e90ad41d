// Benchmark: what a product of f16 takes beside one of f32, however it is computed: each element of A and of B is
// widened once, each of Y rounded once.
#pragma once

#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

/// Does these conversions alone, from memory to registers and from registers to memory, on one thread.
void convert_all(const Case& c, const Operands& operands);

}  // namespace binet::kernels::gemm::bench
