// The binet program: comparing a computed tensor with an expected one.
#pragma once

#include <optional>
#include <string>

#include "binet/tensor.h"

namespace binet::tool {

/// A value passes if |got - want| <= absolute + relative * |want|. Integers must be equal whatever is said here; NaN
/// passes for NaN, and an infinity for the same one.
struct Tolerance {
  double relative = 1e-3;  ///< the defaults of ONNX's own backend tests
  double absolute = 1e-7;
  const Tensor* each = nullptr;  ///< f64 of the same shape: an absolute bound for each element instead
};

/// Nothing if `got` passes; else what differs, in one line.
[[nodiscard]] std::optional<std::string> difference(const Tensor& want, const Tensor& got, const Tolerance& tolerance);

}  // namespace binet::tool
