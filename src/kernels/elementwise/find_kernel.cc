#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/families.h"

namespace binet::kernels::elementwise {

Kernel find_kernel(Operation operation, ElementType type, const Target& target) {
  if (is_integer(type)) return find_integer_kernel(operation, type, target);
  if (type == ElementType::f16) return find_f16_kernel(operation, target);
  if (type == ElementType::bf16) return find_bf16_kernel(operation, target);
  return find_float_kernel(operation, type, target);
}

}  // namespace binet::kernels::elementwise
