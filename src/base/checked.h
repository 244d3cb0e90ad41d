// Room: base. Integer arithmetic on numbers that come from a file: a result, or nothing when it does not fit 64 bits.
#pragma once

#include <cstdint>
#include <optional>

namespace binet {

template <class T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) noexcept {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

template <class T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

}  // namespace binet
