// Element types, under the one spelling that Binet uses for each: f16 bf16 f32 f64 i8 i16 i32 i64 u8 u16 u32 u64.
//
// The types after u64 are known by name, so that an error can say what was found. Binet computes with none of them;
// those with a whole number of bytes to an element can be carried through Identity and Constant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "binet/export.h"
#include "binet/float16.h"

namespace binet {

enum class ElementType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  boolean,
  string,
  complex64,
  complex128,
  i2,
  u2,
  i4,
  u4,
  f4e2m1,
  f8e4m3fn,
  f8e4m3fnuz,
  f8e5m2,
  f8e5m2fnuz,
  f8e8m0,
};

inline constexpr std::size_t kElementTypeCount = static_cast<std::size_t>(ElementType::f8e8m0) + 1;

/// The short name, such as "bf16".
[[nodiscard]] BINET_EXPORT std::string_view to_string(ElementType type) noexcept;

/// Bytes of one element; 0 where an element is not a whole number of bytes (string and the types under 8 bits).
[[nodiscard]] BINET_EXPORT std::size_t byte_size(ElementType type) noexcept;

[[nodiscard]] constexpr bool is_float(ElementType type) noexcept { return type <= ElementType::f64; }
[[nodiscard]] constexpr bool is_integer(ElementType type) noexcept {
  return type >= ElementType::i8 && type <= ElementType::u64;
}
/// One of the twelve types that Binet computes with.
[[nodiscard]] constexpr bool is_numeric(ElementType type) noexcept { return type <= ElementType::u64; }

/// The ElementType of a C++ type: element_type_of<float> is f32.
template <class T>
inline constexpr ElementType element_type_of = [] { static_assert(sizeof(T) == 0, "not an element type"); }();
template <>
inline constexpr ElementType element_type_of<Float16> = ElementType::f16;
template <>
inline constexpr ElementType element_type_of<BFloat16> = ElementType::bf16;
template <>
inline constexpr ElementType element_type_of<float> = ElementType::f32;
template <>
inline constexpr ElementType element_type_of<double> = ElementType::f64;
template <>
inline constexpr ElementType element_type_of<std::int8_t> = ElementType::i8;
template <>
inline constexpr ElementType element_type_of<std::int16_t> = ElementType::i16;
template <>
inline constexpr ElementType element_type_of<std::int32_t> = ElementType::i32;
template <>
inline constexpr ElementType element_type_of<std::int64_t> = ElementType::i64;
template <>
inline constexpr ElementType element_type_of<std::uint8_t> = ElementType::u8;
template <>
inline constexpr ElementType element_type_of<std::uint16_t> = ElementType::u16;
template <>
inline constexpr ElementType element_type_of<std::uint32_t> = ElementType::u32;
template <>
inline constexpr ElementType element_type_of<std::uint64_t> = ElementType::u64;
template <>
inline constexpr ElementType element_type_of<bool> = ElementType::boolean;

}  // namespace binet
