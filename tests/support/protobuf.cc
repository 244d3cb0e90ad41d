#include "support/protobuf.h"

#include <stdexcept>

namespace binet::test {
namespace {

std::uint64_t take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest.empty()) throw std::runtime_error("the message ends in a number");
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  throw std::runtime_error("a number of more than 64 bits");
}

std::string_view take_bytes(std::string_view& rest, std::uint64_t count) {
  if (count > rest.size()) throw std::runtime_error("the message is cut short");
  const std::string_view bytes = rest.substr(0, count);
  rest.remove_prefix(count);
  return bytes;
}

}  // namespace

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  while (!message.empty()) {
    const std::uint64_t key = take_varint(message);
    Field field;
    field.number = static_cast<std::uint32_t>(key >> 3);
    field.type = static_cast<WireType>(key & 7);
    switch (field.type) {
      case WireType::varint:
        field.value = take_varint(message);
        break;
      case WireType::fixed64:
        field.bytes = take_bytes(message, 8);
        break;
      case WireType::length_delimited:
        field.bytes = take_bytes(message, take_varint(message));
        break;
      case WireType::fixed32:
        field.bytes = take_bytes(message, 4);
        break;
      default:
        throw std::runtime_error("a field of an unknown wire type");
    }
    fields.push_back(field);
  }
  return fields;
}

std::vector<std::uint64_t> varints_of(std::string_view packed) {
  std::vector<std::uint64_t> values;
  while (!packed.empty()) values.push_back(take_varint(packed));
  return values;
}

}  // namespace binet::test
