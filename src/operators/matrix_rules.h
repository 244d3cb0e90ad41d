// Room: operators. The shapes of a matrix product, whole or transposed.
#pragma once

#include "tensor/partial_shape.h"

namespace binet {

/// What is multiplied: op(A) is (m, k), op(B) is (k, n).
struct MatrixExtents {
  Extent m = kUnknownExtent;
  Extent n = kUnknownExtent;
  Extent k = kUnknownExtent;
};

/// The extents of op(A) * op(B) for two matrices. Throws Error unless both have rank 2 and the inner extents can agree.
[[nodiscard]] MatrixExtents matrix_product(const PartialShape& a, bool trans_a, const PartialShape& b, bool trans_b);

}  // namespace binet
