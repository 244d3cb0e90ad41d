// Room: operators. A stack of matrix products of one size: the matrix-product kernels, once for each.
#pragma once

#include "operators/broadcast_rules.h"
#include "operators/gemm_call.h"

namespace binet {

/// Lowers Y = op(A) * op(B) for each pair of matrices that the stacks' shapes, of the same rank, broadcast to.
/// `problem` is one pair, without C. Where all of A meets one B, it is one product of more rows.
[[nodiscard]] Lowered lower_batched_gemm(const kernels::gemm::Problem& problem, const AlignedShapes& stacks,
                                         const LoweringContext& context);

}  // namespace binet
