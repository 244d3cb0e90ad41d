// Room: runtime. For tests: small models in memory.
#pragma once

#include <string>
#include <vector>

#include "base/testing.h"
#include "binet/session.h"
#include "formats/onnx/model_builder_testing.h"

namespace binet::testing {

inline Model load(const onnx::testing::ModelBuilder& builder) {
  return load_model(onnx::testing::as_bytes(builder.bytes()), "m.onnx");
}

inline Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::from<float>(std::move(shape), std::span(values));
}

inline std::vector<float> values_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

/// Y = (X * W) V + C with the batch open; the weights are initializers. Ones for X give 12, 23, 35.
inline onnx::testing::ModelBuilder layer() {
  onnx::testing::ModelBuilder model(14);
  model.input("X", ElementType::f32, {-1, 2})
      .initializer(onnx::testing::raw_tensor<float>("W", {2}, {2, 3}))
      .initializer(onnx::testing::raw_tensor<float>("V", {2, 3}, {1, 0, 1, 0, 1, 1}))
      .initializer(onnx::testing::raw_tensor<float>("C", {3}, {10, 20, 30}))
      .node("Mul", {"X", "W"}, {"h"})
      .node("Gemm", {"h", "V", "C"}, {"Y"})
      .output("Y", ElementType::f32, {-1, 3});
  return model;
}

}  // namespace binet::testing
