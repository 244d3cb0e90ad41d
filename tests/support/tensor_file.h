// Tensor files and the comparing of tensors, as the tests see them; independent of the library on purpose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace binet::test {

struct TensorFile {
  std::string type;                 ///< the short name, such as "bf16"; "bool" too
  std::vector<std::int64_t> shape;  ///< extents, none for a scalar
  std::string bytes;                ///< the elements, little-endian, row-major
};

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// A serialized TensorProto with its data inside. Throws std::runtime_error if it is not one.
[[nodiscard]] TensorFile parse_tensor_proto(std::string_view file);

/// A NumPy file in C order. Throws std::runtime_error if it is not one.
[[nodiscard]] TensorFile parse_npy(std::string_view file);

/// The name in the short spelling for one in NumPy's: "float16" gives "f16". Names without one are returned as they
/// are.
[[nodiscard]] std::string short_type_name(std::string_view name);

/// Why `got` is not the tensor `want`, or "" if it is: type and shape equal and every element the same bits, any NaN
/// being as good as any other. With `tolerance` (f64, of the same shape), finite elements may differ by up to its
/// element at the same place, infinities must be equal, NaN must be NaN, and the sign of zero is not looked at.
[[nodiscard]] std::string difference(const TensorFile& want, const TensorFile& got,
                                     const TensorFile* tolerance = nullptr);

}  // namespace binet::test
