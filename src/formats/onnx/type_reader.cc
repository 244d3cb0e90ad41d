#include "formats/onnx/type_reader.h"

#include "base/element_types.h"
#include "base/fail.h"
#include "base/text.h"
#include "formats/onnx/fields.h"

namespace binet::onnx {
namespace {

Dimension read_dimension(Message message) {
  Dimension dimension;
  while (message.next()) {
    switch (message.field()) {
      case dimension::kDimValue:
        dimension.extent = message.integer();
        break;
      case dimension::kDimParam:
        dimension.symbol = message.text();
        break;
      case dimension::kDenotation:
        message.skip();
        break;
      default:
        message.skip_unknown();
    }
  }
  return dimension;
}

void read_tensor_type(Message message, ValueInfo& value, const std::string& where) {
  while (message.next()) {
    switch (message.field()) {
      case tensor_type::kElemType: {
        const std::int64_t number = message.integer();
        value.type = element_type_from_onnx(number);
        if (!value.type && number != 0) {
          fail(ErrorCode::invalid_model, "{}: element type {} is unknown", where, number);
        }
        break;
      }
      case tensor_type::kShape: {
        value.shape.emplace();
        Message shape = message.message("TensorShapeProto");
        while (shape.next()) {
          if (shape.field() == tensor_shape::kDim) {
            value.shape->push_back(read_dimension(shape.message("TensorShapeProto.Dimension")));
          } else {
            shape.skip_unknown();
          }
        }
        break;
      }
      default:
        message.skip_unknown();
    }
  }
}

void read_type(Message message, ValueInfo& value, const std::string& where) {
  const auto refuse = [&](std::string_view found) {
    fail(ErrorCode::unsupported, "{} is {}; only tensors are supported", where, found);
  };
  while (message.next()) {
    switch (message.field()) {
      case type::kTensorType:
        read_tensor_type(message.message("TypeProto.Tensor"), value, where);
        break;
      case type::kSequenceType:
        refuse("a sequence");
        break;
      case type::kMapType:
        refuse("a map");
        break;
      case type::kOpaqueType:
        refuse("opaque");
        break;
      case type::kSparseTensorType:
        refuse("a sparse tensor");
        break;
      case type::kOptionalType:
        refuse("an optional");
        break;
      case type::kDenotation:
        message.skip();
        break;
      default:
        message.skip_unknown();
    }
  }
}

}  // namespace

void read_value_info(Message message, const std::string& file, ValueInfo& value) {
  std::vector<Message> types;
  while (message.next()) {
    switch (message.field()) {
      case value_info::kName:
        value.name = message.text();
        break;
      case value_info::kType:
        types.push_back(message.message("TypeProto"));
        break;
      case value_info::kDocString:
      case value_info::kMetadataProps:
        message.skip();
        break;
      default:
        message.skip_unknown();
    }
  }
  // The type last: its messages name the value, whose name may stand behind it.
  for (const Message& type : types) read_type(type, value, fmt::format("{}: value {}", file, quote(value.name)));
}

}  // namespace binet::onnx
