// Benchmark: the products that are compared.
#pragma once

#include <vector>

#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

/// Each shape, f32 and f64, one and two threads.
[[nodiscard]] std::vector<Case> shape_cases();
/// Transposed operands, and the forms of C, for a few shapes.
[[nodiscard]] std::vector<Case> form_cases();
/// The other six types.
[[nodiscard]] std::vector<Case> type_cases();

}  // namespace binet::kernels::gemm::bench
