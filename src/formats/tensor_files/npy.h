// Room: formats. NumPy's .npy files, format versions 1.0 to 3.0 (numpy.lib.format).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "binet/tensor.h"

namespace binet::npy {

/// Reads an array; row-major little-endian data become a view that keeps `owner`. Throws Error whose message starts
/// with `name`.
[[nodiscard]] Tensor read(const std::string& name, std::span<const std::byte> bytes,
                          const std::shared_ptr<const void>& owner);

/// The bytes that stand before the elements. bf16 is described as uint16: NumPy has no bfloat16.
[[nodiscard]] std::vector<std::byte> header(const Tensor& tensor);

}  // namespace binet::npy
