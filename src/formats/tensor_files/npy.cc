#include "formats/tensor_files/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/fail.h"
#include "base/text.h"
#include "tensor/shape.h"

namespace binet::npy {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
/// NumPy aligns the first element to this, so that a mapped file can be used in place.
constexpr std::size_t kDataAlignment = 64;

struct Descriptor {
  std::string_view name;  ///< kind and size, without the byte order
  ElementType type;
};
constexpr std::array kDescriptors = {
    Descriptor{"f2", ElementType::f16},       Descriptor{"f4", ElementType::f32},
    Descriptor{"f8", ElementType::f64},       Descriptor{"i1", ElementType::i8},
    Descriptor{"i2", ElementType::i16},       Descriptor{"i4", ElementType::i32},
    Descriptor{"i8", ElementType::i64},       Descriptor{"u1", ElementType::u8},
    Descriptor{"u2", ElementType::u16},       Descriptor{"u4", ElementType::u32},
    Descriptor{"u8", ElementType::u64},       Descriptor{"b1", ElementType::boolean},
    Descriptor{"c8", ElementType::complex64}, Descriptor{"c16", ElementType::complex128},
};

struct Header {
  ElementType type = ElementType::f32;
  bool big_endian = false;
  bool column_major = false;
  Shape shape;
};

/// Reads the header, a Python dict of three fixed keys written on one line.
class HeaderParser {
 public:
  HeaderParser(const std::string& file, std::string_view text) : file_(file), rest_(text) {}

  Header parse() {
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr")
        has_type = true, descriptor(string());
      else if (key == "fortran_order")
        has_order = true, header_.column_major = boolean();
      else if (key == "shape")
        has_shape = true, shape();
      else
        refuse(fmt::format("the header has the key {}", quote(key)));
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_type || !has_order || !has_shape) refuse("the header lacks one of descr, fortran_order and shape");
    skip_blanks();
    if (!rest_.empty()) refuse("the header goes on after its end");
    return header_;
  }

 private:
  [[noreturn]] void refuse(std::string_view problem) const {
    fail(ErrorCode::invalid_file, "{}: not a well-formed .npy file: {}", file_, problem);
  }

  void skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \n\t");
    rest_.remove_prefix(std::min(first, rest_.size()));
  }
  bool accept(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) refuse(fmt::format("the header has no '{}' where one must be", c));
  }
  std::string_view string() {
    skip_blanks();
    const char mark = rest_.empty() ? '\0' : rest_.front();
    if (mark != '\'' && mark != '"') refuse("the header has no string where one must be");
    const std::size_t end = rest_.find(mark, 1);
    if (end == std::string_view::npos) refuse("a string in the header does not end");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair<std::string_view, bool>{"True", true}, {"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse("fortran_order is neither True nor False");
  }
  void shape() {
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const auto extent = parse_unsigned(rest_.substr(0, digits));
      if (!extent || *extent > INT64_MAX) refuse("the shape holds something else than extents");
      header_.shape.push_back(static_cast<std::int64_t>(*extent));
      rest_.remove_prefix(digits);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }
  void descriptor(std::string_view text) {
    const std::string_view order = text.substr(0, 1);
    const std::string_view name = text.substr(std::min<std::size_t>(1, text.size()));
    const auto known =
        std::find_if(kDescriptors.begin(), kDescriptors.end(), [&](const Descriptor& d) { return d.name == name; });
    if (known == kDescriptors.end() || (order != "<" && order != ">" && order != "|" && order != "=")) {
      fail(ErrorCode::unsupported, "{}: the element type {} is not supported", file_, quote(text));
    }
    header_.type = known->type;
    header_.big_endian = order == ">";
  }

  const std::string& file_;
  std::string_view rest_;
  Header header_;
};

/// The row-major, little-endian form of elements that are stored otherwise.
Tensor rearrange(const Header& header, const std::byte* data) {
  Tensor tensor = Tensor::uninitialized(header.type, header.shape);
  const std::size_t size = byte_size(header.type);
  // A complex element is two numbers, each in the byte order of the file.
  const bool is_pair = header.type == ElementType::complex64 || header.type == ElementType::complex128;
  const std::size_t number = is_pair ? size / 2 : size;
  std::vector<std::int64_t> index(header.shape.size(), 0);
  std::byte* out = tensor.mutable_bytes().data();
  for (std::size_t i = 0; i < tensor.element_count(); ++i, out += size) {
    std::size_t from = i;
    if (header.column_major) {
      from = 0;
      for (std::size_t d = index.size(); d-- > 0;) {
        from = from * static_cast<std::size_t>(header.shape[d]) + static_cast<std::size_t>(index[d]);
      }
      for (std::size_t d = index.size(); d-- > 0 && ++index[d] == header.shape[d];) index[d] = 0;
    }
    std::memcpy(out, data + from * size, size);
    for (std::size_t part = 0; header.big_endian && part < size; part += number)
      std::reverse(out + part, out + part + number);
  }
  return tensor;
}

}  // namespace

Tensor read(const std::string& name, std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto refuse = [&](std::string_view problem) {
    fail(ErrorCode::invalid_file, "{}: not a well-formed .npy file: {}", name, problem);
  };
  constexpr std::size_t kVersionBytes = 2;
  if (!text.starts_with(kMagic) || text.size() < kMagic.size() + kVersionBytes) refuse("it does not start as one");
  const auto major = static_cast<unsigned char>(text[kMagic.size()]);
  if (major < 1 || major > 3) refuse(fmt::format("its format version is {}; 1 to 3 are known", major));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_begin = kMagic.size() + kVersionBytes + length_bytes;
  if (text.size() < header_begin) refuse("the file is cut short");
  std::uint32_t header_length = 0;
  std::memcpy(&header_length, text.data() + kMagic.size() + kVersionBytes, length_bytes);
  if (text.size() - header_begin < header_length) refuse("the file is cut short");

  const Header header = HeaderParser(name, text.substr(header_begin, header_length)).parse();
  const auto count = element_count(header.shape);
  const auto needed = count ? byte_count(header.type, *count) : std::nullopt;
  const std::span<const std::byte> data = bytes.subspan(header_begin + header_length);
  if (!needed || data.size() != static_cast<std::size_t>(*needed)) {
    refuse(fmt::format("shape {} of {} does not agree with {} bytes of data", to_string(header.shape),
                       to_string(header.type), data.size()));
  }
  if (header.column_major || header.big_endian) return rearrange(header, data.data());
  return Tensor::shared(header.type, header.shape, data.data(), owner);
}

std::vector<std::byte> header(const Tensor& tensor) {
  const ElementType stored = tensor.type() == ElementType::bf16 ? ElementType::u16 : tensor.type();
  const auto descriptor =
      std::find_if(kDescriptors.begin(), kDescriptors.end(), [&](const Descriptor& d) { return d.type == stored; });
  if (descriptor == kDescriptors.end()) {
    fail(ErrorCode::unsupported, "a .npy file cannot hold {}", to_string(tensor.type()));
  }
  std::string shape;
  for (const std::int64_t extent : tensor.shape()) shape += fmt::format("{}, ", extent);
  if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
  if (tensor.shape().size() == 1) shape.resize(shape.size() - 1);
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 byte_size(stored) == 1 ? "|" : "<", descriptor->name, shape);
  const std::size_t begin = kMagic.size() + 4;
  const std::size_t end = (begin + text.size() + 1 + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  text.resize(end - begin - 1, ' ');
  text += '\n';

  const auto length = static_cast<std::uint16_t>(text.size());
  std::string file(kMagic);
  file += {'\x01', '\x00', static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  file += text;
  std::vector<std::byte> bytes(file.size());
  std::memcpy(bytes.data(), file.data(), file.size());
  return bytes;
}

}  // namespace binet::npy
