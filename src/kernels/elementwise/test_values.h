// Room: kernels. What the tests of the elementwise family compute with: elements that hit every special case, and the
// comparison in which any NaN equals any NaN.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "base/element_types.h"

namespace binet::kernels::elementwise::testing {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

inline constexpr ElementType kTypes[] = {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                                         ElementType::i8,  ElementType::i16,  ElementType::i32, ElementType::i64,
                                         ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::u64};

/// Bits of 16-bit floats near every border, for both formats: zeros, the smallest and largest subnormals and normals,
/// powers of two from end to end, odd significands that make ties, infinities, quiet and signalling NaNs.
inline std::vector<std::uint16_t> awkward_16_bit_floats(ElementType type) {
  const unsigned fraction_bits = type == ElementType::f16 ? 10 : 7;
  const unsigned infinity = type == ElementType::f16 ? 0x7C00 : 0x7F80;
  const unsigned one = 1u << fraction_bits;
  std::vector<std::uint16_t> values;
  const auto add = [&](unsigned bits) {
    values.push_back(static_cast<std::uint16_t>(bits));
    values.push_back(static_cast<std::uint16_t>(bits | 0x8000));
  };
  for (const unsigned bits : {0u, 1u, 2u, 3u, 5u, one / 2, one / 2 + 1, one - 1, one, one + 1, 2 * one - 1, 2 * one}) {
    add(bits);
  }
  for (const unsigned bits : {infinity - 1, infinity - 2, infinity - one, infinity, infinity + 1, infinity + one / 2}) {
    add(bits);
  }
  const unsigned middle = infinity / 2 / one * one;
  for (const unsigned exponent : {infinity / 4 / one * one, middle - one, middle, middle + one, infinity - 4 * one}) {
    for (const unsigned fraction : {0u, 1u, one / 2 + 1, one - 1}) add(exponent + fraction);
  }
  return values;
}

template <class T>
T special_value(Random& random) {
  if constexpr (std::is_integral_v<T>) {
    const T values[] = {0, 1, static_cast<T>(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    return values[random() % std::size(values)];
  } else if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    const T values[] = {0,
                        1,
                        Limits::min(),
                        Limits::max(),
                        Limits::denorm_min(),
                        Limits::min() - Limits::denorm_min(),
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::epsilon()};
    const T value = values[random() % std::size(values)];
    return random() % 2 != 0 ? -value : value;
  } else {
    static const std::vector<std::uint16_t> values = awkward_16_bit_floats(element_type_of<T>);
    return T{values[random() % values.size()]};
  }
}

/// Random bits, one in eight of them a special value.
inline Bytes random_elements(ElementType type, std::size_t count, Random& random) {
  Bytes bytes(count * byte_size(type));
  visit_numeric_type(type, [&]<class T>() {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random();
      T value;
      std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
      if (bits >> 61 == 0) value = special_value<T>(random);
      std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
  return bytes;
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(static_cast<double>(value));
  }
}

template <class T>
bool same(const std::byte* x, const std::byte* y) {
  T a;
  T b;
  std::memcpy(&a, x, sizeof(T));
  std::memcpy(&b, y, sizeof(T));
  return std::memcmp(&a, &b, sizeof(T)) == 0 || (is_nan(a) && is_nan(b));
}

/// The first of `count` elements in which x and y differ.
inline std::optional<std::size_t> first_difference(ElementType type, const std::byte* x, const std::byte* y,
                                                   std::size_t count) {
  const std::size_t size = byte_size(type);
  if (count == 0 || std::memcmp(x, y, count * size) == 0) return std::nullopt;
  return visit_numeric_type(type, [&]<class T>() -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < count; ++i) {
      if (!same<T>(x + i * size, y + i * size)) return i;
    }
    return std::nullopt;
  });
}

}  // namespace binet::kernels::elementwise::testing
