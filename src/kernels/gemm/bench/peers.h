// Benchmark: the libraries that are there to compare with.
#pragma once

#include <vector>

#include "kernels/gemm/bench/peer.h"

namespace binet::kernels::gemm::bench {

/// Loads each of the shared objects that were built beside this program; prints those that do not load to stderr.
[[nodiscard]] std::vector<Peer> load_peers();

}  // namespace binet::kernels::gemm::bench
