// Room: operators. A call of the matrix-product kernels; shared by every operator of that family.
#pragma once

#include "kernels/gemm/gemm.h"
#include "operators/operator_version.h"
#include "tensor/broadcast.h"

namespace binet {

/// Lowers Y = alpha * op(A) * op(B) + beta * C, inputs in that order. Where B never changes it is packed here, once.
[[nodiscard]] Lowered lower_gemm(const kernels::gemm::Problem& problem, const LoweringContext& context);

/// The Problem for row-major matrices: A (m,k) or (k,m), B (k,n) or (n,k), C a shape that broadcasts to (m,n) or null.
[[nodiscard]] kernels::gemm::Problem row_major_problem(ElementType type, std::int64_t m, std::int64_t n, std::int64_t k,
                                                       bool trans_a, bool trans_b, const Shape* c);

}  // namespace binet
