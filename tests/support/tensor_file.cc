#include "support/tensor_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support/protobuf.h"

namespace binet::test {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Type {
  std::uint64_t number;      // TensorProto.DataType
  const char* name;          // Binet's
  const char* numpy;         // NumPy's; bfloat16 for the type that NumPy does not have
  const char* npy;           // descr in an .npy file, after the byte order
  std::uint32_t data_field;  // of TensorProto, for elements that are not in raw_data
  std::size_t size;
};

constexpr std::uint32_t kFloatData = 4, kInt32Data = 5, kInt64Data = 7, kDoubleData = 10, kUint64Data = 11;

constexpr std::array<Type, 13> kTypes{{
    {1, "f32", "float32", "f4", kFloatData, 4},
    {2, "u8", "uint8", "u1", kInt32Data, 1},
    {3, "i8", "int8", "i1", kInt32Data, 1},
    {4, "u16", "uint16", "u2", kInt32Data, 2},
    {5, "i16", "int16", "i2", kInt32Data, 2},
    {6, "i32", "int32", "i4", kInt32Data, 4},
    {7, "i64", "int64", "i8", kInt64Data, 8},
    {9, "bool", "bool", "b1", kInt32Data, 1},
    {10, "f16", "float16", "f2", kInt32Data, 2},
    {11, "f64", "float64", "f8", kDoubleData, 8},
    {12, "u32", "uint32", "u4", kUint64Data, 4},
    {13, "u64", "uint64", "u8", kUint64Data, 8},
    {16, "bf16", "bfloat16", nullptr, kInt32Data, 2},
}};

template <class Matches>
const Type& type_where(const std::string& what, Matches matches) {
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), matches);
  if (type == kTypes.end()) throw std::runtime_error("element type " + what);
  return *type;
}

const Type& type_named(const std::string& name) {
  return type_where(name, [&](const Type& type) { return type.name == name; });
}

std::size_t element_count(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw std::runtime_error("a negative extent");
    count *= static_cast<std::size_t>(extent);
  }
  return count;
}

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "(" + text + ")";
}

TensorFile checked(TensorFile tensor) {
  const std::size_t wanted = element_count(tensor.shape) * type_named(tensor.type).size;
  if (tensor.bytes.size() != wanted) {
    throw std::runtime_error(std::to_string(tensor.bytes.size()) + " bytes of data, " + std::to_string(wanted) +
                             " for the shape " + text_of(tensor.shape));
  }
  return tensor;
}

// The value of a key in the dictionary at the start of an .npy file.
std::string_view npy_entry(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "':";
  const std::size_t start = header.find(quoted);
  if (start == std::string_view::npos) throw std::runtime_error("an .npy header without " + std::string(key));
  std::string_view value = header.substr(start + quoted.size());
  value = value.substr(0, std::min(value.find(", '"), value.find('}')));
  value = value.substr(std::min(value.size(), value.find_first_not_of(' ')));
  return value.substr(0, value.find_last_not_of(", ") + 1);
}

template <class T>
T element(const TensorFile& tensor, std::size_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

long double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  long double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction != 0 ? std::nanl("") : static_cast<long double>(HUGE_VAL);
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<long double>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<long double>(1024 + fraction), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// Every numeric element type fits: long double holds at least 64 significant bits where the tests run.
long double value_at(const TensorFile& tensor, std::size_t i) {
  const std::string& type = tensor.type;
  if (type == "f16") return half_value(element<std::uint16_t>(tensor, i));
  if (type == "bf16") return std::bit_cast<float>(std::uint32_t{element<std::uint16_t>(tensor, i)} << 16);
  if (type == "f32") return element<float>(tensor, i);
  if (type == "f64") return element<double>(tensor, i);
  if (type == "i8") return element<std::int8_t>(tensor, i);
  if (type == "i16") return element<std::int16_t>(tensor, i);
  if (type == "i32") return static_cast<long double>(element<std::int32_t>(tensor, i));
  if (type == "i64") return static_cast<long double>(element<std::int64_t>(tensor, i));
  if (type == "u8" || type == "bool") return element<std::uint8_t>(tensor, i);
  if (type == "u16") return element<std::uint16_t>(tensor, i);
  if (type == "u32") return static_cast<long double>(element<std::uint32_t>(tensor, i));
  return static_cast<long double>(element<std::uint64_t>(tensor, i));
}

bool is_float(const TensorFile& tensor) { return tensor.type.find('f') != std::string::npos; }

bool same_bits(const TensorFile& want, const TensorFile& got, std::size_t i) {
  const std::size_t size = type_named(want.type).size;
  if (std::memcmp(want.bytes.data() + i * size, got.bytes.data() + i * size, size) == 0) return true;
  return is_float(want) && std::isnan(value_at(want, i)) && std::isnan(value_at(got, i));
}

bool close_enough(long double want, long double got, double tolerance) {
  if (want == got || (std::isnan(want) && std::isnan(got))) return true;
  return std::isfinite(want) && std::isfinite(got) && std::fabs(want - got) <= static_cast<long double>(tolerance);
}

std::string number_text(const TensorFile& tensor, std::size_t i) {
  std::array<char, 64> text{};
  const long double value = value_at(tensor, i);
  std::snprintf(text.data(), text.size(), is_float(tensor) ? "%.17Lg" : "%.0Lf", value);
  return text.data();
}

std::string place_text(const TensorFile& tensor, std::size_t index) {
  std::vector<std::int64_t> place(tensor.shape.size());
  for (std::size_t axis = place.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(tensor.shape[axis]);
    place[axis] = static_cast<std::int64_t>(index % extent);
    index /= extent;
  }
  return text_of(place);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

TensorFile parse_tensor_proto(std::string_view file) {
  constexpr std::uint32_t kDims = 1, kDataType = 2, kRawData = 9;
  TensorFile tensor;
  std::uint64_t number = 0;
  std::optional<std::string_view> raw;
  std::vector<Field> data;
  for (const Field& field : fields_of(file)) {
    const bool packed = field.type == WireType::length_delimited;
    switch (field.number) {
      case kDims: {
        const auto dims = packed ? varints_of(field.bytes) : std::vector{field.value};
        tensor.shape.insert(tensor.shape.end(), dims.begin(), dims.end());
        break;
      }
      case kDataType:
        number = field.value;
        break;
      case kRawData:
        raw = field.bytes;
        break;
      case kFloatData:
      case kInt32Data:
      case kInt64Data:
      case kDoubleData:
      case kUint64Data:
        data.push_back(field);
        break;
      default:
        break;
    }
  }
  const Type& type = type_where(std::to_string(number), [&](const Type& row) { return row.number == number; });
  tensor.type = type.name;
  if (raw || element_count(tensor.shape) == 0) {
    tensor.bytes = raw.value_or("");
    return checked(std::move(tensor));
  }
  for (const Field& field : data) {
    if (field.number != type.data_field) continue;
    if (type.data_field == kFloatData || type.data_field == kDoubleData) {
      tensor.bytes += field.bytes;
      continue;
    }
    const bool packed = field.type == WireType::length_delimited;
    for (const std::uint64_t value : packed ? varints_of(field.bytes) : std::vector{field.value}) {
      std::array<char, sizeof value> low{};
      std::memcpy(low.data(), &value, sizeof value);
      tensor.bytes.append(low.data(), type.size);
    }
  }
  return checked(std::move(tensor));
}

TensorFile parse_npy(std::string_view file) {
  if (!file.starts_with("\x93NUMPY") || file.size() < 12) throw std::runtime_error("not an .npy file");
  // Version 1 has a length of two bytes, versions 2 and 3 of four.
  const std::size_t length_bytes = file[6] == 1 ? 2 : 4;
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  const std::size_t start = 8 + length_bytes;
  if (length > file.size() - start) throw std::runtime_error("the .npy header is cut short");
  const std::string_view header = file.substr(start, length);

  TensorFile tensor;
  const std::string descr(npy_entry(header, "descr"));
  if (descr.starts_with("'>")) throw std::runtime_error("a big-endian .npy file");
  tensor.type = type_where(descr, [&](const Type& row) {
                  return row.npy != nullptr && descr.size() == 5 && descr.substr(2, 2) == row.npy;
                }).name;
  if (npy_entry(header, "fortran_order") != "False") throw std::runtime_error("an .npy file in Fortran order");
  std::string_view shape = npy_entry(header, "shape");
  while ((shape = shape.substr(std::min(shape.size(), shape.find_first_of("0123456789")))) != "") {
    const std::size_t digits = std::min(shape.size(), shape.find_first_not_of("0123456789"));
    tensor.shape.push_back(std::stoll(std::string(shape.substr(0, digits))));
    shape.remove_prefix(digits);
  }
  tensor.bytes = file.substr(start + length);
  return checked(std::move(tensor));
}

std::string short_type_name(std::string_view name) {
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const Type& row) { return row.numpy == name; });
  return type == kTypes.end() ? std::string(name) : type->name;
}

std::string difference(const TensorFile& want, const TensorFile& got, const TensorFile* tolerance) {
  if (want.type != got.type) return "type " + got.type + ", " + want.type + " wanted";
  if (want.shape != got.shape) return "shape " + text_of(got.shape) + ", " + text_of(want.shape) + " wanted";
  if (tolerance != nullptr && (tolerance->type != "f64" || tolerance->shape != want.shape)) {
    return "the tolerance is not f64 of shape " + text_of(want.shape);
  }
  const std::size_t count = element_count(want.shape);
  std::size_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool good = tolerance == nullptr
                          ? same_bits(want, got, i)
                          : close_enough(value_at(want, i), value_at(got, i), element<double>(*tolerance, i));
    if (!good && wrong++ == 0) first = i;
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + std::to_string(count) + " elements differ, first at " +
         place_text(want, first) + ": " + number_text(got, first) + ", " + number_text(want, first) + " wanted" +
         (tolerance == nullptr ? ", bit for bit" : ", " + number_text(*tolerance, first) + " allowed");
}

}  // namespace binet::test
