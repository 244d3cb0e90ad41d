#include "kernels/gemm/kernels.h"

#include <fmt/format.h>

namespace binet::kernels::gemm {

const Kernels* find_f32_kernels(ElementType type, const Target& target);
const Kernels* find_f64_kernels(ElementType type, const Target& target);
const Kernels* find_u32_kernels(ElementType type, const Target& target);
const Kernels* find_u64_kernels(ElementType type, const Target& target);

const Kernels* find_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::f16:
    case ElementType::bf16:
    case ElementType::f32:
      return find_f32_kernels(type, target);
    case ElementType::f64:
      return find_f64_kernels(type, target);
    case ElementType::i32:
    case ElementType::u32:
      return find_u32_kernels(type, target);
    case ElementType::i64:
    case ElementType::u64:
      return find_u64_kernels(type, target);
    default:
      return nullptr;
  }
}

std::string describe(const Kernels& kernels) {
  if (is_integer(kernels.type)) {
    return fmt::format("{}x{} u{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes, kernels.way);
  }
  return fmt::format("{}x{} f{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes,
                     kernels.is_fused ? "fma" : "multiply, then add");
}

}  // namespace binet::kernels::gemm
