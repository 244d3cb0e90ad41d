// Room: kernels, benchmarks only. What the machine allows: loops made by hand for the memory of one case, which write
// each byte of the result once and read each byte of the operands, in order, without a thought for the broadcast: an
// operand whose innermost loop moves as often as the result needs it, one whose elements are spread over the innermost
// loop once, one of less than a kilobyte not at all. Compiled for the machine at hand.
#pragma once

#include "kernels/elementwise/bench/operands.h"

namespace binet::kernels::elementwise::bench {

/// As many bytes as the product, half of them read and half of them written.
void copy_limit(const Operands& operands, const ThreadPool& pool);

/// Reads a and b, writes y: f32 and f64 are multiplied, of other types the bits are combined by one instruction.
void multiply_limit(const Operands& operands, const ThreadPool& pool);

/// The same, and each line of y is asked for a kilobyte before it is written.
void fetching_limit(const Operands& operands, const ThreadPool& pool);

/// The same with streaming stores.
void streaming_limit(const Operands& operands, const ThreadPool& pool);

/// f16 and bf16 are multiplied in f32, integers of 8, 32 and 64 bits in several steps, so the bytes are not all that
/// limits them: as many products as the case has, exactly rounded, by the shortest loop known, from and to a few
/// kilobytes in the first-level cache.
[[nodiscard]] bool has_arithmetic_limit(ElementType type);
void arithmetic_limit(const Operands& operands, const ThreadPool& pool);

}  // namespace binet::kernels::elementwise::bench
