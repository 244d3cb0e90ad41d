// The binet program: tensors for a model's inputs, from files, from a folder, or at random.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "binet/model.h"
#include "binet/session.h"
#include "binet/tensor_file.h"

namespace binet::tool {

/// Reads a tensor for a value of the model: the bits of a bf16 value may stand in a .npy as uint16.
[[nodiscard]] TensorFile read_for(const std::filesystem::path& path, const ValueDescription& value);

/// The path of `stem`_`number` with the ending .pb or .npy, whichever exists.
[[nodiscard]] std::optional<std::filesystem::path> numbered_file(const std::filesystem::path& folder,
                                                                 const std::string& stem, std::size_t number);

/// Reads input_0, input_1, ... of a folder: first the inputs that have no initializer, in the order of the graph; then
/// values for inputs that have one, found by the name in the file.
[[nodiscard]] NamedTensors read_inputs(const Model& model, const std::filesystem::path& folder);

/// Values from -1 to 1, integers from -8 to 8 (unsigned ones from 0), the same for the same seed and shape. Open
/// extents are looked up by name in `extents`. Throws Error where one is missing.
[[nodiscard]] Tensor random_tensor(const ValueDescription& value, const std::map<std::string, std::int64_t>& extents,
                                   std::uint64_t seed);

/// Such values for every input that has no default and no tensor in `given` yet.
void add_random_inputs(const Model& model, const std::map<std::string, std::int64_t>& extents, std::uint64_t seed,
                       NamedTensors& given);

}  // namespace binet::tool
