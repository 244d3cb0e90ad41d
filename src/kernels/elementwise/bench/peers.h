// Room: kernels, benchmarks only. Other libraries, where they are installed.
#pragma once

#include <functional>

#include "kernels/elementwise/bench/operands.h"

namespace binet::kernels::elementwise::bench {

/// The same product by Eigen, compiled for the machine at hand; empty where Eigen or a way to say it is missing.
[[nodiscard]] std::function<void()> eigen_product(const Operands& operands, const ThreadPool& pool);

/// The same product by oneDNN on its own threads; empty where oneDNN, or its support of the case, is missing.
[[nodiscard]] std::function<void()> onednn_product(const Operands& operands, int threads);

}  // namespace binet::kernels::elementwise::bench
