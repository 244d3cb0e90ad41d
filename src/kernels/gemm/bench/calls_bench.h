// Benchmark: small products through the public interface, where what surrounds the arithmetic counts.
#pragma once

#include <span>

#include "kernels/gemm/bench/peer.h"
#include "kernels/gemm/bench/turns.h"

namespace binet::kernels::gemm::bench {

void compare_calls(std::span<const Peer> peers, const Effort& effort);

}  // namespace binet::kernels::gemm::bench
