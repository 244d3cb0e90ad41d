// Benchmark: the products that are compared.
#pragma once

#include <vector>

#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

struct Shape {
  std::int64_t m = 0, n = 0, k = 0;
};

/// So many shapes whose extents are spread evenly over the powers of two up to 4096, without those that are over at
/// once or take very long: to find what nobody thought of. The same ones for the same seed.
[[nodiscard]] std::vector<Shape> random_shapes(int count, std::uint64_t seed);

// Of the given shapes; without any, of those listed in cases.cc.

/// Each shape, f32 and f64, one and two threads.
[[nodiscard]] std::vector<Case> shape_cases(const std::vector<Shape>& shapes);
/// Transposed operands, and the forms of C, for a few shapes.
[[nodiscard]] std::vector<Case> form_cases(const std::vector<Shape>& shapes);
/// The other six types.
[[nodiscard]] std::vector<Case> type_cases(const std::vector<Shape>& shapes);

}  // namespace binet::kernels::gemm::bench
