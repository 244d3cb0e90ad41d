// A protobuf message as a list of its fields: the tests' own reader, so that a mistake in the library's reader shows.
// https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace binet::test {

enum class WireType { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  ///< of a varint
  std::string_view bytes;   ///< of every other type, without the length
};

/// The fields of `message` in their order; throws std::runtime_error if it is not well formed.
[[nodiscard]] std::vector<Field> fields_of(std::string_view message);

/// The numbers of a packed repeated integer field.
[[nodiscard]] std::vector<std::uint64_t> varints_of(std::string_view packed);

}  // namespace binet::test
