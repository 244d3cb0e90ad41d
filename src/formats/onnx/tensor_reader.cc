#include "formats/onnx/tensor_reader.h"

#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "base/element_types.h"
#include "base/fail.h"
#include "base/text.h"
#include "formats/onnx/fields.h"
#include "tensor/shape.h"

namespace binet::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw_data is little-endian and used in place");

/// The fields of a TensorProto as they stand in the file.
struct Fields {
  std::string name;
  Shape dims;
  std::int64_t data_type = 0;
  std::int64_t data_location = tensor::kLocationDefault;
  ExternalDataEntries external;
  bool has_external_entries = false;
  bool has_segment = false;
  std::optional<std::string_view> raw;
  std::vector<std::uint32_t> data_fields;  ///< numbers of the typed fields that hold a value
  std::vector<float> reals;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers;  ///< int32_data, int64_data or uint64_data; u64 values by their bits
};

void read_external_entry(Message entry, ExternalDataEntries& entries) {
  std::string key;
  std::string value;
  while (entry.next()) {
    switch (entry.field()) {
      case string_entry::kKey:
        key = entry.text();
        break;
      case string_entry::kValue:
        value = entry.text();
        break;
      default:
        entry.skip_unknown();
    }
  }
  if (key == "location") entries.location = value;
  if (key == "offset") entries.offset = value;
  if (key == "length") entries.length = value;
}

Fields read_fields(Message message) {
  Fields fields;
  const auto note = [&](std::uint32_t field, std::size_t before, std::size_t after) {
    if (after > before && (fields.data_fields.empty() || fields.data_fields.back() != field)) {
      fields.data_fields.push_back(field);
    }
  };
  while (message.next()) {
    const std::uint32_t field = message.field();
    switch (field) {
      case tensor::kDims:
        message.append_integers(fields.dims);
        break;
      case tensor::kDataType:
        fields.data_type = message.integer();
        break;
      case tensor::kName:
        fields.name = message.text();
        break;
      case tensor::kRawData:
        fields.raw = message.bytes();
        break;
      case tensor::kDataLocation:
        fields.data_location = message.integer();
        break;
      case tensor::kSegment:
        fields.has_segment = true, message.skip();
        break;
      case tensor::kExternalData:
        fields.has_external_entries = true;
        read_external_entry(message.message("StringStringEntryProto"), fields.external);
        break;
      case tensor::kFloatData: {
        const std::size_t before = fields.reals.size();
        message.append_reals(fields.reals);
        note(field, before, fields.reals.size());
        break;
      }
      case tensor::kDoubleData: {
        const std::size_t before = fields.doubles.size();
        message.append_doubles(fields.doubles);
        note(field, before, fields.doubles.size());
        break;
      }
      case tensor::kInt32Data:
      case tensor::kInt64Data:
      case tensor::kUint64Data: {
        const std::size_t before = fields.integers.size();
        message.append_integers(fields.integers);
        note(field, before, fields.integers.size());
        break;
      }
      case tensor::kStringData:
        note(field, 0, 1), message.skip();
        break;
      case tensor::kDocString:
      case tensor::kMetadataProps:
        message.skip();
        break;
      default:
        message.skip_unknown();
    }
  }
  return fields;
}

/// The field that holds the values of a type when they are not in raw_data (comments of TensorProto in onnx.proto).
std::uint32_t typed_field(ElementType type) {
  switch (type) {
    case ElementType::f32:
    case ElementType::complex64:
      return tensor::kFloatData;
    case ElementType::f64:
    case ElementType::complex128:
      return tensor::kDoubleData;
    case ElementType::i64:
      return tensor::kInt64Data;
    case ElementType::u32:
    case ElementType::u64:
      return tensor::kUint64Data;
    case ElementType::string:
      return tensor::kStringData;
    default:
      return tensor::kInt32Data;
  }
}

struct Limits {
  std::int64_t least;
  std::int64_t most;
};

/// The name of a data field, for messages.
std::string_view field_name(std::uint32_t number) {
  switch (number) {
    case tensor::kFloatData:
      return "float_data";
    case tensor::kDoubleData:
      return "double_data";
    case tensor::kInt32Data:
      return "int32_data";
    case tensor::kInt64Data:
      return "int64_data";
    case tensor::kUint64Data:
      return "uint64_data";
    default:
      return "string_data";
  }
}

/// What an element of int32_data or uint64_data may be; the 16-bit floats and the 8-bit ones are stored as their bits.
Limits limits_of(ElementType type) {
  switch (type) {
    case ElementType::i8:
      return {-128, 127};
    case ElementType::i16:
      return {-32768, 32767};
    case ElementType::i32:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    case ElementType::boolean:
      return {0, 1};
    case ElementType::u32:
      return {0, std::numeric_limits<std::uint32_t>::max()};
    case ElementType::i64:
    case ElementType::u64:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
    default:
      return {0, byte_size(type) == 1 ? 0xFF : 0xFFFF};
  }
}

class TensorBuilder {
 public:
  TensorBuilder(Fields fields, std::string where) : fields_(std::move(fields)), where_(std::move(where)) {}

  Tensor build(ExternalFiles& external, const std::shared_ptr<const void>& owner) {
    check_type_and_dims();
    if (fields_.has_segment) refuse("the tensor is stored in segments, which is not supported");
    if (fields_.data_location == tensor::kLocationExternal) return from_external(external);
    if (fields_.data_location != tensor::kLocationDefault) {
      refuse(fmt::format("data_location is {}; it must be 0 (here) or 1 (external)", fields_.data_location));
    }
    if (fields_.has_external_entries) refuse("external_data is given, but data_location is not EXTERNAL");
    if (fields_.data_fields.size() + (fields_.raw ? 1 : 0) > 1) refuse("the values stand in more than one data field");
    return fields_.raw ? from_raw(owner) : from_typed();
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, ErrorCode code = ErrorCode::invalid_file) const {
    fail(code, "{}: {}", where_, problem);
  }

  void check_type_and_dims() {
    if (fields_.data_type == 0) refuse("the tensor has no element type");
    const auto type = element_type_from_onnx(fields_.data_type);
    if (!type) refuse(fmt::format("element type {} is unknown", fields_.data_type));
    type_ = *type;
    for (const std::int64_t extent : fields_.dims) {
      if (extent < 0) refuse(fmt::format("dims {} has a negative extent", to_string(fields_.dims)));
    }
    const auto count = binet::element_count(fields_.dims);
    const auto bytes = count ? byte_count(type_, *count) : std::nullopt;
    if (!bytes) refuse(fmt::format("the number of elements of dims {} does not fit", to_string(fields_.dims)));
    if (byte_size(type_) == 0) {
      refuse(fmt::format("tensors of {} are not supported", to_string(type_)), ErrorCode::unsupported);
    }
    count_ = static_cast<std::size_t>(*count);
    bytes_ = static_cast<std::size_t>(*bytes);
  }

  Tensor from_external(ExternalFiles& external) {
    if (fields_.raw || !fields_.data_fields.empty()) refuse("the tensor is external and has data of its own too");
    const ExternalFiles::Range range = external.read(where_, fields_.external, bytes_);
    return Tensor::shared(type_, fields_.dims, range.bytes.data(), range.file);
  }

  Tensor from_raw(const std::shared_ptr<const void>& owner) {
    if (fields_.raw->size() != bytes_) {
      refuse(fmt::format("raw_data has {} bytes, but {} {} elements need {}", fields_.raw->size(), count_,
                         to_string(type_), bytes_));
    }
    return Tensor::shared(type_, fields_.dims, fields_.raw->data(), owner);
  }

  Tensor from_typed() {
    const std::uint32_t field = typed_field(type_);
    if (fields_.data_fields.empty()) {
      if (count_ != 0) refuse(fmt::format("the tensor has no data; {} elements are needed", count_));
      return Tensor::allocate(type_, fields_.dims);
    }
    if (fields_.data_fields.front() != field) {
      refuse(fmt::format("values of {} belong in {} or raw_data, not in {}", to_string(type_), field_name(field),
                         field_name(fields_.data_fields.front())));
    }
    switch (field) {
      case tensor::kFloatData:
        return copy(fields_.reals, field_name(field));
      case tensor::kDoubleData:
        return copy(fields_.doubles, field_name(field));
      default:
        return narrow(field_name(field));
    }
  }

  /// New memory, once it is known that the file has as many values as the dims say.
  [[nodiscard]] Tensor allocate_for(std::size_t found, std::size_t needed, std::string_view field) const {
    if (found != needed) refuse(fmt::format("{} has {} values, but the dims need {}", field, found, needed));
    return Tensor::allocate(type_, fields_.dims);
  }

  template <class Scalar>
  [[nodiscard]] Tensor copy(const std::vector<Scalar>& values, std::string_view field) const {
    Tensor tensor = allocate_for(values.size(), bytes_ / sizeof(Scalar), field);
    if (bytes_ != 0) std::memcpy(tensor.mutable_bytes().data(), values.data(), bytes_);
    return tensor;
  }

  [[nodiscard]] Tensor narrow(std::string_view field) const {
    Tensor tensor = allocate_for(fields_.integers.size(), count_, field);
    const Limits limits = limits_of(type_);
    const std::size_t size = byte_size(type_);
    std::byte* out = tensor.mutable_bytes().data();
    for (std::size_t i = 0; i < count_; ++i) {
      const std::int64_t value = fields_.integers[i];
      if (value < limits.least || value > limits.most) {
        refuse(fmt::format("{}[{}] is {}; an element of {} is {} to {}", field, i, value, to_string(type_),
                           limits.least, limits.most));
      }
      std::memcpy(out + i * size, &value, size);
    }
    return tensor;
  }

  Fields fields_;
  std::string where_;
  ElementType type_ = ElementType::f32;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

NamedTensorProto read_tensor(Message message, const std::string& where, ExternalFiles& external,
                             const std::shared_ptr<const void>& owner) {
  Fields fields = read_fields(message);
  std::string name = fields.name;
  TensorBuilder builder(std::move(fields), name.empty() ? where : fmt::format("{} {}", where, quote(name)));
  return {std::move(name), builder.build(external, owner)};
}

}  // namespace binet::onnx
