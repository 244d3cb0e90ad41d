// Room: kernels, benchmarks only. What a person writes without a library: nested loops that the compiler vectorizes.
// Compiled twice, for the build's baseline and for the machine at hand.
#pragma once

#include "kernels/elementwise/bench/operands.h"

namespace binet::kernels::elementwise::bench {

namespace plain {
/// False where there is no such loop: C++ has no 16-bit floats.
bool supports(ElementType type);
void multiply(const Operands& operands, const ThreadPool& pool);
}  // namespace plain

namespace plain_native {
void multiply(const Operands& operands, const ThreadPool& pool);
}  // namespace plain_native

}  // namespace binet::kernels::elementwise::bench
