#include "tensor/shape.h"

#include "base/checked.h"
#include "base/element_types.h"

namespace binet {

std::optional<std::int64_t> element_count(Extents shape) noexcept {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    const auto product = checked_multiply(count, extent);
    if (!product) return std::nullopt;
    count = *product;
  }
  return empty ? 0 : count;
}

std::optional<std::int64_t> byte_count(ElementType type, std::int64_t elements) noexcept {
  const auto bits = checked_multiply(elements, static_cast<std::int64_t>(bit_size(type)));
  if (!bits) {
    const auto bytes = checked_multiply(elements, static_cast<std::int64_t>(byte_size(type)));
    return byte_size(type) == 0 ? std::nullopt : bytes;
  }
  return *bits / 8 + (*bits % 8 != 0 ? 1 : 0);
}

}  // namespace binet
