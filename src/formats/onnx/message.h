// Room: formats. One protobuf message of a file, field by field, with every read bounded and every mistake named.
//
// A thin layer over protozero::pbf_reader: it checks that a field has the wire type that its declaration asks for,
// takes repeated numbers packed or not, and turns protozero's exceptions into an Error that says where in the file.
#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace binet::onnx {

/// The file a message is from, and what is remembered while it is read.
struct Source {
  std::string name;                              ///< for messages
  std::string_view bytes;                        ///< the whole file
  std::vector<std::string> unknown_fields = {};  ///< "GraphProto field 99", the first few that were passed over
};

class Message {
 public:
  /// `type` is the message's name in onnx.proto; `bytes` lies within source.bytes.
  Message(Source& source, std::string_view type, std::string_view bytes);

  /// Goes to the next field; false at the end.
  bool next();
  [[nodiscard]] std::uint32_t field() const noexcept { return reader_.tag(); }

  [[nodiscard]] std::int64_t integer();
  [[nodiscard]] float real();
  [[nodiscard]] std::string_view bytes();
  [[nodiscard]] std::string text() { return std::string(bytes()); }
  [[nodiscard]] Message message(std::string_view type) { return {source_, type, bytes()}; }

  /// Appends one element, or all of a packed field.
  void append_integers(std::vector<std::int64_t>& values);
  void append_reals(std::vector<float>& values);
  void append_doubles(std::vector<double>& values);

  /// Passes over a field that Binet knows and does not need, or one that it does not know.
  void skip();
  void skip_unknown();

  [[noreturn]] void fail(std::string_view problem) const;
  [[nodiscard]] Source& source() const noexcept { return source_; }

 private:
  template <class Read>
  auto guarded(Read&& read);
  void expect(protozero::pbf_wire_type type) const;
  template <class Scalar>
  void append_fixed(std::vector<Scalar>& values, protozero::pbf_wire_type single);

  Source& source_;
  std::string_view type_;
  protozero::pbf_reader reader_;
};

}  // namespace binet::onnx
