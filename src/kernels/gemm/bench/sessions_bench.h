// Benchmark: several sessions at once, as in a server, against the same work done by one session alone.
#pragma once

#include "kernels/gemm/bench/turns.h"

namespace binet::kernels::gemm::bench {

void compare_sessions(const Effort& effort);

}  // namespace binet::kernels::gemm::bench
