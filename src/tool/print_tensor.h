// The binet program: a tensor as text.
#pragma once

#include <cstddef>
#include <string>

#include "binet/tensor.h"

namespace binet::tool {

/// Nested brackets, a row a line; where there are more than `most` elements, the first and the last of each extent.
[[nodiscard]] std::string format_values(const Tensor& tensor, std::size_t most = 1000);

/// One element as text: the shortest decimal that reads back as the same value.
[[nodiscard]] std::string format_element(const Tensor& tensor, std::size_t index);

/// i4 and u4, of which a byte holds two.
[[nodiscard]] constexpr bool is_four_bit(ElementType type) noexcept {
  return type == ElementType::i4 || type == ElementType::u4;
}

/// One numeric element as f64, for comparisons.
[[nodiscard]] double element_as_double(const Tensor& tensor, std::size_t index);

}  // namespace binet::tool
