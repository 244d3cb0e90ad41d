#include "formats/onnx/message.h"

#include <cstring>

#include "base/fail.h"

namespace binet::onnx {
namespace {

using protozero::pbf_wire_type;

constexpr std::size_t kRememberedUnknownFields = 4;

std::string_view describe(pbf_wire_type type) {
  switch (type) {
    case pbf_wire_type::varint:
      return "a variable-length number";
    case pbf_wire_type::fixed64:
      return "8 bytes";
    case pbf_wire_type::length_delimited:
      return "bytes with a length";
    case pbf_wire_type::fixed32:
      return "4 bytes";
    default:
      return "an unknown kind";
  }
}

}  // namespace

Message::Message(Source& source, std::string_view type, std::string_view bytes)
    : source_(source), type_(type), reader_(bytes.data(), bytes.size()) {}

void Message::fail(std::string_view problem) const {
  const auto position = static_cast<std::size_t>(reader_.data().data() - source_.bytes.data());
  binet::fail(ErrorCode::invalid_file, "{}: not a well-formed file: byte {}, in {}: {}", source_.name, position, type_,
              problem);
}

template <class Read>
auto Message::guarded(Read&& read) {
  try {
    return read();
  } catch (const protozero::end_of_buffer_exception&) {
    fail("the bytes end inside a field");
  } catch (const protozero::varint_too_long_exception&) {
    fail("a number is longer than 10 bytes");
  } catch (const protozero::unknown_pbf_wire_type_exception&) {
    fail("a field has a wire type that ONNX files do not use (0, 1, 2 and 5 are)");
  } catch (const protozero::invalid_tag_exception&) {
    fail("a field has a number that is not allowed");
  } catch (const protozero::invalid_length_exception&) {
    fail("the length of a packed field is not a multiple of its element");
  }
}

bool Message::next() {
  return guarded([&] { return reader_.next(); });
}

void Message::expect(pbf_wire_type type) const {
  if (reader_.wire_type() == type) return;
  fail(fmt::format("field {} is {}; it must be {}", field(), describe(reader_.wire_type()), describe(type)));
}

std::int64_t Message::integer() {
  expect(pbf_wire_type::varint);
  return guarded([&] { return reader_.get_int64(); });
}

float Message::real() {
  expect(pbf_wire_type::fixed32);
  return guarded([&] { return reader_.get_float(); });
}

std::string_view Message::bytes() {
  expect(pbf_wire_type::length_delimited);
  const protozero::data_view view = guarded([&] { return reader_.get_view(); });
  return {view.data(), view.size()};
}

void Message::append_integers(std::vector<std::int64_t>& values) {
  if (reader_.wire_type() == pbf_wire_type::varint) {
    values.push_back(integer());
    return;
  }
  expect(pbf_wire_type::length_delimited);
  guarded([&] {
    for (const std::int64_t value : reader_.get_packed_int64()) values.push_back(value);
  });
}

template <class Scalar>
void Message::append_fixed(std::vector<Scalar>& values, pbf_wire_type single) {
  if (reader_.wire_type() == single) {
    values.push_back(guarded([&] {
      if constexpr (sizeof(Scalar) == 4)
        return reader_.get_float();
      else
        return reader_.get_double();
    }));
    return;
  }
  const std::string_view packed = bytes();
  if (packed.size() % sizeof(Scalar) != 0) fail("the length of a packed field is not a multiple of its element");
  const std::size_t before = values.size();
  values.resize(before + packed.size() / sizeof(Scalar));
  if (!packed.empty()) std::memcpy(values.data() + before, packed.data(), packed.size());
}

void Message::append_reals(std::vector<float>& values) { append_fixed(values, pbf_wire_type::fixed32); }
void Message::append_doubles(std::vector<double>& values) { append_fixed(values, pbf_wire_type::fixed64); }

void Message::skip() {
  guarded([&] { reader_.skip(); });
}

void Message::skip_unknown() {
  if (source_.unknown_fields.size() < kRememberedUnknownFields) {
    source_.unknown_fields.push_back(fmt::format("{} field {}", type_, field()));
  }
  skip();
}

}  // namespace binet::onnx
