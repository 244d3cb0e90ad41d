// Room: operators. Elementwise operations on i4 and u4, which lie packed two to a byte, the first in the low half.
#pragma once

#include "operators/elementwise_call.h"

namespace binet {

/// Lowers A op B modulo 16: the elements are unpacked to bytes, computed there, and packed again. In product and sum
/// the low half of a byte depends on the operands' low halves alone, so i4 and u4 are the same.
[[nodiscard]] Lowered lower_four_bit(kernels::elementwise::Operation operation, ElementType type,
                                     const AlignedShapes& shapes, const LoweringContext& context);

}  // namespace binet
