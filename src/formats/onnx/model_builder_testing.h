// Room: formats. For tests: ONNX models and tensors written field by field, so that a test can also write what is
// wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/element_types.h"
#include "formats/onnx/fields.h"

namespace binet::onnx::testing {

/// A ValueInfoProto of a tensor; an extent under 0 is the symbol "N", "M", ... by its number.
inline std::string value_info(const std::string& name, ElementType type, const std::vector<std::int64_t>& shape) {
  std::string dims;
  for (const std::int64_t extent : shape) {
    std::string dimension;
    protozero::pbf_writer writer(dimension);
    if (extent >= 0)
      writer.add_int64(dimension::kDimValue, extent);
    else
      writer.add_string(dimension::kDimParam, std::string(1, static_cast<char>('N' - extent - 1)));
    protozero::pbf_writer(dims).add_message(tensor_shape::kDim, dimension);
  }
  std::string tensor_type;
  protozero::pbf_writer(tensor_type).add_int32(tensor_type::kElemType, onnx_number(type));
  protozero::pbf_writer(tensor_type).add_message(tensor_type::kShape, dims);
  std::string type_bytes;
  protozero::pbf_writer(type_bytes).add_message(type::kTensorType, tensor_type);
  std::string info;
  protozero::pbf_writer(info).add_string(value_info::kName, name);
  protozero::pbf_writer(info).add_message(value_info::kType, type_bytes);
  return info;
}

/// A TensorProto with raw_data.
template <class T>
std::string raw_tensor(const std::string& name, const std::vector<std::int64_t>& dims, const std::vector<T>& values) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_packed_int64(tensor::kDims, dims.begin(), dims.end());
  writer.add_int32(tensor::kDataType, onnx_number(element_type_of<T>));
  writer.add_string(tensor::kName, name);
  writer.add_bytes(tensor::kRawData, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

inline std::string integer_attribute(const std::string& name, std::int64_t value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(attribute::kName, name);
  writer.add_int64(attribute::kInt, value);
  writer.add_int32(attribute::kType, 2);
  return bytes;
}

inline std::string real_attribute(const std::string& name, float value) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(attribute::kName, name);
  writer.add_float(attribute::kFloat, value);
  writer.add_int32(attribute::kType, 1);
  return bytes;
}

inline std::string tensor_attribute(const std::string& name, const std::string& tensor) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  writer.add_string(attribute::kName, name);
  writer.add_message(attribute::kTensor, tensor);
  writer.add_int32(attribute::kType, 4);
  return bytes;
}

inline std::string node(const std::string& op_type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {}) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  for (const std::string& input : inputs) writer.add_string(node::kInput, input);
  for (const std::string& output : outputs) writer.add_string(node::kOutput, output);
  writer.add_string(node::kOpType, op_type);
  for (const std::string& attribute : attributes) writer.add_message(node::kAttribute, attribute);
  return bytes;
}

/// A ModelProto put together from the parts above.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset, std::int64_t ir_version = 8) : opset_(opset), ir_version_(ir_version) {}

  ModelBuilder& input(const std::string& name, ElementType type, const std::vector<std::int64_t>& shape) {
    return add(graph::kInput, value_info(name, type, shape));
  }
  ModelBuilder& output(const std::string& name, ElementType type, const std::vector<std::int64_t>& shape) {
    return add(graph::kOutput, value_info(name, type, shape));
  }
  ModelBuilder& initializer(const std::string& tensor) { return add(graph::kInitializer, tensor); }
  ModelBuilder& node(const std::string& op_type, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {}) {
    return add(graph::kNode, testing::node(op_type, inputs, outputs, attributes));
  }
  /// Any field of the GraphProto.
  ModelBuilder& add(std::uint32_t field, const std::string& message) {
    protozero::pbf_writer(graph_).add_message(field, message);
    return *this;
  }

  [[nodiscard]] std::string bytes() const {
    std::string import;
    protozero::pbf_writer(import).add_int64(operator_set_id::kVersion, opset_);
    std::string model;
    protozero::pbf_writer writer(model);
    writer.add_int64(model::kIrVersion, ir_version_);
    writer.add_message(model::kOpsetImport, import);
    writer.add_message(model::kGraph, graph_);
    return model;
  }

 private:
  std::int64_t opset_;
  std::int64_t ir_version_;
  std::string graph_;
};

inline std::span<const std::byte> as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace binet::onnx::testing
