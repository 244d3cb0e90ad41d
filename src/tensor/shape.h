// Room: tensor. Counting the elements and bytes of a shape without trusting it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "binet/element_type.h"

namespace binet {

using Extents = std::span<const std::int64_t>;

/// As == of two Shapes, but without its call of memcmp, which takes longer for a few extents.
[[nodiscard]] inline bool is_same(Extents a, Extents b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

/// The product of the extents, 1 for a scalar; nothing if an extent is negative, or if the product of the extents that
/// are not 0 does not fit 63 bits (so that strides are safe to compute even where the tensor is empty).
[[nodiscard]] std::optional<std::int64_t> element_count(Extents shape) noexcept;

/// The bytes of that many elements of `type`, elements under 8 bits packed; nothing if it does not fit 63 bits.
[[nodiscard]] std::optional<std::int64_t> byte_count(ElementType type, std::int64_t elements) noexcept;

}  // namespace binet
