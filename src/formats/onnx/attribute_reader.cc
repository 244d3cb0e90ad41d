#include "formats/onnx/attribute_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/fail.h"
#include "base/text.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/tensor_reader.h"

namespace binet::onnx {
namespace {

/// A kind of attribute: AttributeProto.AttributeType, the field of its value, and its name.
struct Kind {
  std::int64_t type;
  std::uint32_t field;
  std::string_view name;
};

constexpr std::array kKinds = {
    Kind{1, attribute::kFloat, "FLOAT"},
    Kind{2, attribute::kInt, "INT"},
    Kind{3, attribute::kString, "STRING"},
    Kind{4, attribute::kTensor, "TENSOR"},
    Kind{5, attribute::kGraph, "GRAPH"},
    Kind{6, attribute::kFloats, "FLOATS"},
    Kind{7, attribute::kInts, "INTS"},
    Kind{8, attribute::kStrings, "STRINGS"},
    Kind{9, attribute::kTensors, "TENSORS"},
    Kind{10, attribute::kGraphs, "GRAPHS"},
    Kind{11, attribute::kSparseTensor, "SPARSE_TENSOR"},
    Kind{12, attribute::kSparseTensors, "SPARSE_TENSORS"},
    Kind{13, attribute::kTypeProto, "TYPE_PROTO"},
    Kind{14, attribute::kTypeProtos, "TYPE_PROTOS"},
};

struct Fields {
  std::string name;
  std::optional<std::int64_t> type;
  std::vector<std::uint32_t> present;  ///< value fields in the file, each once
  std::int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::optional<Message> tensor;
};

Fields read_fields(Message message, const std::string& where) {
  Fields fields;
  while (message.next()) {
    const std::uint32_t field = message.field();
    const bool is_value = std::any_of(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.field == field; });
    if (is_value && std::find(fields.present.begin(), fields.present.end(), field) == fields.present.end()) {
      fields.present.push_back(field);
    }
    switch (field) {
      case attribute::kName:
        fields.name = message.text();
        break;
      case attribute::kType:
        fields.type = message.integer();
        break;
      case attribute::kInt:
        fields.integer = message.integer();
        break;
      case attribute::kFloat:
        fields.real = message.real();
        break;
      case attribute::kString:
        fields.text = message.text();
        break;
      case attribute::kInts:
        message.append_integers(fields.integers);
        break;
      case attribute::kFloats:
        message.append_reals(fields.reals);
        break;
      case attribute::kTensor:
        fields.tensor.emplace(message.message("TensorProto"));
        break;
      case attribute::kRefAttrName:
        fail(ErrorCode::unsupported,
             "{}: attribute {} refers to an attribute of a function; functions are not supported", where,
             quote(fields.name));
      case attribute::kDocString:
        message.skip();
        break;
      default:
        is_value ? message.skip() : message.skip_unknown();
    }
  }
  return fields;
}

const Kind& kind_of(const Fields& fields, const std::string& where) {
  const auto by_type = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) { return k.type == fields.type; });
  const auto by_field = std::find_if(kKinds.begin(), kKinds.end(), [&](const Kind& k) {
    return !fields.present.empty() && k.field == fields.present.front();
  });
  if (fields.type && *fields.type != 0) {
    if (by_type == kKinds.end()) fail(ErrorCode::invalid_file, "{}: attribute type {} is unknown", where, *fields.type);
    // A value equal to proto3's default may be left out of the file; a value of another kind may not be there.
    if (fields.present.size() > 1 || (by_field != kKinds.end() && by_field != by_type)) {
      fail(ErrorCode::invalid_file, "{}: the type is {}, but the value is of another kind", where, by_type->name);
    }
    return *by_type;
  }
  if (fields.present.size() != 1) {
    fail(ErrorCode::invalid_file, "{}: the attribute has no type and {} values", where, fields.present.size());
  }
  return *by_field;
}

}  // namespace

Attribute read_attribute(Message message, const std::string& where, ExternalFiles& external,
                         const std::shared_ptr<const void>& owner) {
  Fields fields = read_fields(message, where);
  const std::string here = fmt::format("{}: attribute {}", where, quote(fields.name));
  if (fields.name.empty()) fail(ErrorCode::invalid_model, "{}: an attribute has no name", where);
  const Kind& kind = kind_of(fields, here);
  Attribute result{fields.name, OtherAttribute{kind.name}};
  switch (kind.field) {
    case attribute::kInt:
      result.value = fields.integer;
      break;
    case attribute::kFloat:
      result.value = fields.real;
      break;
    case attribute::kString:
      result.value = std::move(fields.text);
      break;
    case attribute::kInts:
      result.value = std::move(fields.integers);
      break;
    case attribute::kFloats:
      result.value = std::move(fields.reals);
      break;
    case attribute::kTensor:
      if (!fields.tensor) fail(ErrorCode::invalid_file, "{}: the tensor is missing", here);
      result.value = read_tensor(*fields.tensor, here, external, owner).value;
      break;
    default:
      break;
  }
  return result;
}

}  // namespace binet::onnx
