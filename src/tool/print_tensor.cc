#include "tool/print_tensor.h"

#include <fmt/format.h>

#include <cstring>

#include "binet/error.h"

namespace binet::tool {
namespace {

/// At each end of an extent, where not everything is shown.
constexpr std::int64_t kShownAtEachEnd = 3;

/// An element of i4 or u4: the first of each two stands in the low half of its byte.
int four_bit_element(const Tensor& tensor, std::size_t index) {
  const auto byte = std::to_integer<int>(tensor.bytes()[index / 2]);
  const int value = index % 2 == 0 ? byte & 0xF : byte >> 4;
  return tensor.type() == ElementType::i4 && value > 7 ? value - 16 : value;
}

/// Calls visitor(value) with the element; the elements may have any alignment.
template <class Visitor>
auto visit_element(const Tensor& tensor, std::size_t index, Visitor&& visitor) {
  const auto load = [&]<class T>() {
    T value;
    std::memcpy(&value, tensor.bytes().data() + index * sizeof(T), sizeof(T));
    return value;
  };
  switch (tensor.type()) {
    case ElementType::f16:
      return visitor(static_cast<float>(load.template operator()<Float16>()));
    case ElementType::bf16:
      return visitor(static_cast<float>(load.template operator()<BFloat16>()));
    case ElementType::f32:
      return visitor(load.template operator()<float>());
    case ElementType::f64:
      return visitor(load.template operator()<double>());
    case ElementType::i8:
      return visitor(static_cast<int>(load.template operator()<std::int8_t>()));
    case ElementType::i16:
      return visitor(load.template operator()<std::int16_t>());
    case ElementType::i32:
      return visitor(load.template operator()<std::int32_t>());
    case ElementType::i64:
      return visitor(load.template operator()<std::int64_t>());
    case ElementType::u8:
    case ElementType::boolean:
      return visitor(static_cast<unsigned>(load.template operator()<std::uint8_t>()));
    case ElementType::u16:
      return visitor(load.template operator()<std::uint16_t>());
    case ElementType::u32:
      return visitor(load.template operator()<std::uint32_t>());
    case ElementType::u64:
      return visitor(load.template operator()<std::uint64_t>());
    case ElementType::i4:
    case ElementType::u4:
      return visitor(four_bit_element(tensor, index));
    default:
      throw Error(ErrorCode::unsupported, fmt::format("values of {} cannot be shown", to_string(tensor.type())));
  }
}

class Printer {
 public:
  Printer(const Tensor& tensor, bool shorten) : tensor_(tensor), shorten_(shorten) {}

  std::string print() {
    level(0, 0);
    return std::move(text_);
  }

 private:
  void level(std::size_t dimension, std::size_t offset) {
    const Shape& shape = tensor_.shape();
    if (dimension == shape.size()) {
      text_ += format_element(tensor_, offset);
      return;
    }
    std::size_t step = 1;
    for (std::size_t d = dimension + 1; d < shape.size(); ++d) step *= static_cast<std::size_t>(shape[d]);
    const bool is_row = dimension + 1 == shape.size();
    const std::string separator = is_row ? ", " : ",\n" + std::string(dimension + 1, ' ');
    text_ += '[';
    for (std::int64_t i = 0; i < shape[dimension]; ++i) {
      if (i != 0) text_ += separator;
      if (shorten_ && i == kShownAtEachEnd && shape[dimension] > 2 * kShownAtEachEnd) {
        text_ += "...";
        i = shape[dimension] - kShownAtEachEnd - 1;
        continue;
      }
      level(dimension + 1, offset + static_cast<std::size_t>(i) * step);
    }
    text_ += ']';
  }

  const Tensor& tensor_;
  bool shorten_;
  std::string text_;
};

}  // namespace

std::string format_element(const Tensor& tensor, std::size_t index) {
  return visit_element(tensor, index, [](auto value) { return fmt::format("{}", value); });
}

double element_as_double(const Tensor& tensor, std::size_t index) {
  return visit_element(tensor, index, [](auto value) { return static_cast<double>(value); });
}

std::string format_values(const Tensor& tensor, std::size_t most) {
  return Printer(tensor, tensor.element_count() > most).print();
}

}  // namespace binet::tool
