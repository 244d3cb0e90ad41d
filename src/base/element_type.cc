// Room: base. The table of element types: one row each, in the order of the enumeration.
#include "binet/element_type.h"

#include <array>

#include "base/element_types.h"

namespace binet {
namespace {

struct ElementTypeRow {
  ElementType type;
  std::string_view name;
  std::uint8_t bits;         // 0: no fixed size
  std::uint8_t onnx_number;  // TensorProto.DataType; 0: not an ONNX type
};

constexpr std::array kRows = {
    ElementTypeRow{ElementType::f16, "f16", 16, 10},
    ElementTypeRow{ElementType::bf16, "bf16", 16, 16},
    ElementTypeRow{ElementType::f32, "f32", 32, 1},
    ElementTypeRow{ElementType::f64, "f64", 64, 11},
    ElementTypeRow{ElementType::i8, "i8", 8, 3},
    ElementTypeRow{ElementType::i16, "i16", 16, 5},
    ElementTypeRow{ElementType::i32, "i32", 32, 6},
    ElementTypeRow{ElementType::i64, "i64", 64, 7},
    ElementTypeRow{ElementType::u8, "u8", 8, 2},
    ElementTypeRow{ElementType::u16, "u16", 16, 4},
    ElementTypeRow{ElementType::u32, "u32", 32, 12},
    ElementTypeRow{ElementType::u64, "u64", 64, 13},
    ElementTypeRow{ElementType::boolean, "bool", 8, 9},
    ElementTypeRow{ElementType::string, "string", 0, 8},
    ElementTypeRow{ElementType::complex64, "complex64", 64, 14},
    ElementTypeRow{ElementType::complex128, "complex128", 128, 15},
    ElementTypeRow{ElementType::i2, "i2", 2, 26},
    ElementTypeRow{ElementType::u2, "u2", 2, 25},
    ElementTypeRow{ElementType::i4, "i4", 4, 22},
    ElementTypeRow{ElementType::u4, "u4", 4, 21},
    ElementTypeRow{ElementType::f4e2m1, "f4e2m1", 4, 23},
    ElementTypeRow{ElementType::f8e4m3fn, "f8e4m3fn", 8, 17},
    ElementTypeRow{ElementType::f8e4m3fnuz, "f8e4m3fnuz", 8, 18},
    ElementTypeRow{ElementType::f8e5m2, "f8e5m2", 8, 19},
    ElementTypeRow{ElementType::f8e5m2fnuz, "f8e5m2fnuz", 8, 20},
    ElementTypeRow{ElementType::f8e8m0, "f8e8m0", 8, 24},
};

constexpr bool rows_follow_enumeration() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].type) != i) return false;
  }
  return kRows.size() == kElementTypeCount;
}
static_assert(rows_follow_enumeration());

const ElementTypeRow& row(ElementType type) noexcept { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(ElementType type) noexcept { return row(type).name; }

std::size_t byte_size(ElementType type) noexcept { return row(type).bits % 8 == 0 ? row(type).bits / 8 : 0; }

std::size_t bit_size(ElementType type) noexcept { return row(type).bits; }

std::optional<ElementType> element_type_from_onnx(std::int64_t number) noexcept {
  for (const ElementTypeRow& r : kRows) {
    if (r.onnx_number == number && number != 0) return r.type;
  }
  return std::nullopt;
}

std::int32_t onnx_number(ElementType type) noexcept { return row(type).onnx_number; }

std::optional<ElementType> element_type_from_name(std::string_view name) noexcept {
  for (const ElementTypeRow& r : kRows) {
    if (r.name == name) return r.type;
  }
  return std::nullopt;
}

std::string TypeSet::names() const {
  std::string text;
  for (const ElementTypeRow& r : kRows) {
    if (!contains(r.type)) continue;
    if (!text.empty()) text += ' ';
    text += r.name;
  }
  return text;
}

}  // namespace binet
