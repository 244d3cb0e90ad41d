// Room: kernels. The elementwise kernels by type family, one source each; find_kernel is put together from them.
#pragma once

#include "kernels/elementwise/elementwise.h"

namespace binet::kernels::elementwise {

/// f32 and f64.
[[nodiscard]] Kernel find_float_kernel(Operation operation, ElementType type, const Target& target);
[[nodiscard]] Kernel find_f16_kernel(Operation operation, const Target& target);
[[nodiscard]] Kernel find_bf16_kernel(Operation operation, const Target& target);
/// i8 to u64.
[[nodiscard]] Kernel find_integer_kernel(Operation operation, ElementType type, const Target& target);

}  // namespace binet::kernels::elementwise
