// Room: operators. From two aligned shapes to a call of the elementwise kernels; shared by every operator of that
// family.
#pragma once

#include "kernels/elementwise/plan.h"
#include "operators/broadcast_rules.h"
#include "operators/operator_version.h"

namespace binet {

[[nodiscard]] Lowered lower_elementwise(kernels::elementwise::Operation operation, ElementType type,
                                        const AlignedShapes& shapes, const LoweringContext& context);

}  // namespace binet
