#include "kernels/gemm/kernels.h"

#include <fmt/format.h>

#include "kernels/gemm/amx/kernels.h"

namespace binet::kernels::gemm {

const Kernels* find_f32_kernels(ElementType type, const Target& target);
const Kernels* find_f64_kernels(ElementType type, const Target& target);
const Kernels* find_u32_kernels(ElementType type, const Target& target);
const Kernels* find_u64_kernels(ElementType type, const Target& target);

namespace {

const Kernels* find_vector_kernels(ElementType type, const Target& target) {
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

/// Those of vectors, and what the matrix registers do beside them.
template <ElementType kType>
const Kernels* with_amx(const Target& target) {
  static const Kernels kernels = [&] {
    Kernels both = *find_vector_kernels(kType, target);
    both.amx = find_amx_kernels(kType);
    return both;
  }();
  return &kernels;
}

}  // namespace

const Kernels* find_kernels(ElementType type, const Target& target) {
  if (has_amx(target)) {
    switch (type) {
      case ElementType::bf16:
        return with_amx<ElementType::bf16>(target);
      case ElementType::i32:
        return with_amx<ElementType::i32>(target);
      case ElementType::u32:
        return with_amx<ElementType::u32>(target);
      case ElementType::i64:
        return with_amx<ElementType::i64>(target);
      case ElementType::u64:
        return with_amx<ElementType::u64>(target);
      default:
        break;
    }
  }
  return find_vector_kernels(type, target);
}

std::string describe(const Kernels& kernels) {
  if (kernels.amx != nullptr) {
    const std::int64_t lanes = panel_lanes(*kernels.amx);
    const char sums = is_integer(kernels.type) ? 'u' : 'f';
    return fmt::format("{}x{} {}{} {}", lanes, lanes, sums, 8 * kernels.accumulator_bytes, kernels.amx->way);
  }
  if (is_integer(kernels.type)) {
    return fmt::format("{}x{} u{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes, kernels.way);
  }
  return fmt::format("{}x{} f{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes,
                     kernels.is_fused ? "fma" : "multiply, then add");
}

}  // namespace binet::kernels::gemm
