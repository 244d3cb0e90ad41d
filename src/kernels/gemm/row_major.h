// Room: kernels. Products whose matrices lie row by row without gaps, as models have them.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Y = op(A) * op(B): A is (m,k), or (k,m) if it is transposed, B is (k,n) or (n,k). No C.
[[nodiscard]] inline Problem row_major_product(ElementType type, std::int64_t m, std::int64_t n, std::int64_t k,
                                               bool trans_a, bool trans_b) {
  Problem problem;
  problem.type = type;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a_row_step = trans_a ? 1 : k;
  problem.a_column_step = trans_a ? m : 1;
  problem.b_row_step = trans_b ? 1 : n;
  problem.b_column_step = trans_b ? k : 1;
  problem.y_row_step = n;
  return problem;
}

/// The shapes of C that become (m,n): none, one element, (n), (m,1), (m,n).
enum class CForm : std::uint8_t { none, scalar, row, column, full };

[[nodiscard]] inline Problem with_c(Problem problem, CForm form) {
  problem.has_c = form != CForm::none;
  problem.c_row_step = form == CForm::full ? problem.n : form == CForm::column ? 1 : 0;
  problem.c_column_step = form == CForm::full || form == CForm::row ? 1 : 0;
  return problem;
}

}  // namespace binet::kernels::gemm
