// Benchmark: libraries that compute Y = A * B + Y are given C by writing it to Y first, as their users must.
#pragma once

#include <algorithm>

#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

template <class T>
void place_c(const Case& product, const T* c, T* y) {
  switch (product.c) {
    case CForm::none:
      return;
    case CForm::scalar:
      std::fill_n(y, product.m * product.n, *c);
      return;
    case CForm::row:
      for (std::int64_t i = 0; i < product.m; ++i) std::copy_n(c, product.n, y + i * product.n);
      return;
    case CForm::column:
      for (std::int64_t i = 0; i < product.m; ++i) std::fill_n(y + i * product.n, product.n, c[i]);
      return;
    case CForm::full:
      std::copy_n(c, product.m * product.n, y);
      return;
  }
}

}  // namespace binet::kernels::gemm::bench
