// Tensors in files: ONNX TensorProto (.pb) and NumPy (.npy), told apart by the file name's ending.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "binet/export.h"
#include "binet/tensor.h"

namespace binet {

struct TensorFile {
  std::string name;  ///< the tensor's name in a .pb; empty in a .npy
  Tensor value;
};

/// Reads a tensor; throws Error that names the file. NumPy has no bfloat16: read uint16 and see bits_as().
[[nodiscard]] BINET_EXPORT TensorFile read_tensor_file(const std::filesystem::path& path);

/// Writes a tensor, whole or not at all: the file appears under its name when it is complete. bf16 in a .npy is written
/// as the same bits in uint16.
BINET_EXPORT void write_tensor_file(const std::filesystem::path& path, const std::string& name, const Tensor& value);

/// Writes bytes in the same way, whole or not at all.
BINET_EXPORT void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// The same bits as another type of the same size: u16 as bf16. Throws Error if the sizes differ.
[[nodiscard]] BINET_EXPORT Tensor bits_as(const Tensor& tensor, ElementType type);

}  // namespace binet
