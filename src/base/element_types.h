// Room: base. What the rest of Binet asks about element types, beyond the public header; and sets of them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "binet/element_type.h"

namespace binet {

/// Bits of one element; 0 for string.
[[nodiscard]] std::size_t bit_size(ElementType type) noexcept;

/// The type with this TensorProto.DataType number (onnx.proto), and back. UNDEFINED (0) is no type.
[[nodiscard]] std::optional<ElementType> element_type_from_onnx(std::int64_t number) noexcept;
[[nodiscard]] std::int32_t onnx_number(ElementType type) noexcept;

/// The type with this short name; the spelling is that of OpenVINO's IR too, for the types both have.
[[nodiscard]] std::optional<ElementType> element_type_from_name(std::string_view name) noexcept;

/// A set of element types, as the rows of the operator tables use it.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<ElementType> types) {
    for (const ElementType type : types) bits_ |= bit(type);
  }

  [[nodiscard]] constexpr bool contains(ElementType type) const noexcept { return (bits_ & bit(type)) != 0; }
  [[nodiscard]] constexpr TypeSet operator|(TypeSet other) const noexcept {
    TypeSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  friend constexpr bool operator==(TypeSet, TypeSet) noexcept = default;

  /// The names, separated by blanks, in the order of the enumeration.
  [[nodiscard]] std::string names() const;

 private:
  static constexpr std::uint32_t bit(ElementType type) { return std::uint32_t{1} << static_cast<unsigned>(type); }
  std::uint32_t bits_ = 0;
};

/// The groups in which the standards add types.
inline constexpr TypeSet kFloatTypes = {ElementType::f16, ElementType::f32, ElementType::f64};
inline constexpr TypeSet kBFloatType = {ElementType::bf16};
inline constexpr TypeSet kWideIntegerTypes = {ElementType::i32, ElementType::i64, ElementType::u32, ElementType::u64};
inline constexpr TypeSet kNarrowIntegerTypes = {ElementType::i8, ElementType::i16, ElementType::u8, ElementType::u16};
inline constexpr TypeSet kNumericTypes = kFloatTypes | kBFloatType | kWideIntegerTypes | kNarrowIntegerTypes;
static_assert(kElementTypeCount <= 32);

/// Calls visitor.operator()<T>() with the C++ type of one of the twelve numeric types.
template <class Visitor>
decltype(auto) visit_numeric_type(ElementType type, Visitor&& visitor) {
  switch (type) {
    case ElementType::f16:
      return visitor.template operator()<Float16>();
    case ElementType::bf16:
      return visitor.template operator()<BFloat16>();
    case ElementType::f32:
      return visitor.template operator()<float>();
    case ElementType::f64:
      return visitor.template operator()<double>();
    case ElementType::i8:
      return visitor.template operator()<std::int8_t>();
    case ElementType::i16:
      return visitor.template operator()<std::int16_t>();
    case ElementType::i32:
      return visitor.template operator()<std::int32_t>();
    case ElementType::i64:
      return visitor.template operator()<std::int64_t>();
    case ElementType::u8:
      return visitor.template operator()<std::uint8_t>();
    case ElementType::u16:
      return visitor.template operator()<std::uint16_t>();
    case ElementType::u32:
      return visitor.template operator()<std::uint32_t>();
    default:
      return visitor.template operator()<std::uint64_t>();
  }
}

}  // namespace binet
