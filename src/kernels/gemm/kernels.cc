#include "kernels/gemm/kernels.h"

#include <fmt/format.h>

#include <array>

#include "kernels/gemm/tiled/kernels.h"

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

/// Those of vectors, and products of tiles beside them.
Kernels with_tiles(ElementType type, const Target& target) noexcept {
  Kernels both = *find_vector_kernels(type, target);
  both.tiled = find_tiled_kernels(type, target);
  return both;
}

}  // namespace

const Kernels* find_kernels(ElementType type, const Target& target) {
  if (has_amx(target)) {
    static const std::array<Kernels, 5> kernels = {
        with_tiles(ElementType::bf16, target), with_tiles(ElementType::i32, target),
        with_tiles(ElementType::u32, target),  with_tiles(ElementType::i64, target),
        with_tiles(ElementType::u64, target),
    };
    for (const Kernels& of_type : kernels) {
      if (of_type.type == type) return &of_type;
    }
  } else if (type == ElementType::bf16 && has_fast_pair_dots(target)) {
    static const Kernels kernels = with_tiles(type, target);
    return &kernels;
  }
  return find_vector_kernels(type, target);
}

std::string describe(const Kernels& kernels) {
  if (kernels.tiled != nullptr) {
    const std::int64_t lanes = panel_lanes(*kernels.tiled);
    const std::int64_t rows = kernels.tiled->are_vectors ? kHeightsOfVectorTiles[0] : lanes;
    const char sums = is_integer(kernels.type) ? 'u' : 'f';
    return fmt::format("{}x{} {}{} {}", rows, lanes, sums, 8 * kernels.accumulator_bytes, kernels.tiled->way);
  }
  if (is_integer(kernels.type)) {
    return fmt::format("{}x{} u{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes, kernels.way);
  }
  return fmt::format("{}x{} f{} {}", kernels.mr, kernels.nr, 8 * kernels.accumulator_bytes,
                     kernels.is_fused ? "fma" : "multiply, then add");
}

}  // namespace binet::kernels::gemm
