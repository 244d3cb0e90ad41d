// Benchmark: one product to be measured, as Binet and the libraries beside it see it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "binet/element_type.h"
#include "kernels/gemm/row_major.h"

namespace binet::kernels::gemm::bench {

/// Y = op(A) * op(B) + C. Matrices are dense and row-major; C is one element, (N), (M,1) or (M,N).
struct Case {
  ElementType type = ElementType::f32;
  std::int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  CForm c = CForm::none;
  int threads = 1;
};

struct Operands {
  const std::byte *a = nullptr, *b = nullptr, *c = nullptr;
  std::byte* y = nullptr;
};

}  // namespace binet::kernels::gemm::bench
