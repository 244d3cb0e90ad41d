// Room: operators. The tables of the ONNX operators, one file each; registry.cc lists them.
#pragma once

#include <span>

#include "operators/operator_version.h"

namespace binet::onnx {

[[nodiscard]] std::span<const OperatorVersion> mul_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> gemm_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> constant_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> identity_versions() noexcept;

}  // namespace binet::onnx
