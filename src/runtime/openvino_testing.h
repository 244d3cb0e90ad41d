// Room: runtime. For tests: OpenVINO models of one layer, from the XML to the result.
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/testing.h"
#include "binet/session.h"
#include "formats/openvino/ir_builder_testing.h"
#include "kernels/elementwise/test_values.h"
#include "tensor/shape.h"

namespace binet::openvino::testing {

using binet::testing::message_of;
using kernels::elementwise::testing::Random;

inline Model load(const IrBuilder& model) { return load_openvino_model(model.xml(), model.weights(), "m.xml"); }

inline NamedTensors run(const IrBuilder& model, const NamedTensors& inputs) {
  return Session(load(model), {.threads = 2}).run(inputs);
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

/// As the XML has it: without parentheses.
inline std::string text_of(const Shape& shape) {
  std::string text = to_string(shape);
  return text.substr(1, text.size() - 2);
}

/// a (op) b for two inputs.
inline IrBuilder binary(const std::string& type, const std::string& data, const Tensor& a, const Tensor& b) {
  IrBuilder model;
  model.parameter("a", std::string(to_string(a.type())), text_of(a.shape()))
      .parameter("b", std::string(to_string(b.type())), text_of(b.shape()))
      .layer("y", type, data, {"a", "b"})
      .result("y");
  return model;
}

inline Tensor run_binary(const std::string& type, const std::string& data, const Tensor& a, const Tensor& b) {
  return run(binary(type, data, a, b), {{"a", a}, {"b", b}})[0];
}

inline std::string transposes(bool a, bool b) {
  return fmt::format(R"(transpose_a="{}" transpose_b="{}")", a ? "true" : "false", b ? "true" : "false");
}

inline bool same_bits(const Tensor& x, const Tensor& y) {
  return x.type() == y.type() && x.shape() == y.shape() &&
         (x.size_bytes() == 0 || std::memcmp(x.bytes().data(), y.bytes().data(), x.size_bytes()) == 0);
}

inline Tensor random_tensor(ElementType type, const Shape& shape, Random& random) {
  Tensor tensor = Tensor::allocate(type, shape);
  const auto bytes = kernels::elementwise::testing::random_elements(type, tensor.element_count(), random);
  if (!bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace binet::openvino::testing
