// Room: operators. The tables of the OpenVINO operators, one file each; registry.cc lists them.
//
// The domain of a row is the operation set that first had the operator in this form, as a layer's `version` names it.
// None of them has changed since opset1.
#pragma once

#include <span>

#include "operators/operator_version.h"

namespace binet::openvino {

[[nodiscard]] std::span<const OperatorVersion> multiply_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> add_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> matmul_versions() noexcept;
[[nodiscard]] std::span<const OperatorVersion> convert_versions() noexcept;

/// i4 and u4, packed two to a byte.
inline constexpr TypeSet kFourBitTypes = {ElementType::i4, ElementType::u4};

}  // namespace binet::openvino
