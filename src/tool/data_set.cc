#include "tool/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "binet/error.h"

namespace binet::tool {
namespace {

const ValueDescription* find_optional_input(const std::vector<ValueDescription>& inputs, const std::string& name) {
  const auto found = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const ValueDescription& v) { return v.has_default && v.name == name; });
  return found == inputs.end() ? nullptr : &*found;
}

Shape fixed_shape(const ValueDescription& value, const std::map<std::string, std::int64_t>& extents) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("input '{}' {} is open: {}", value.name, to_string(value.shape), what));
  };
  if (!value.shape) refuse("give its values with -i, its rank is not declared");
  Shape shape;
  for (const Dimension& dimension : *value.shape) {
    const auto given = extents.find(dimension.symbol);
    if (!dimension.extent && given == extents.end()) {
      refuse(dimension.symbol.empty() ? "give its values with -i, an extent has no name"
                                      : fmt::format("give --dim {}=N", dimension.symbol));
    }
    shape.push_back(dimension.extent ? *dimension.extent : given->second);
  }
  return shape;
}

template <class T>
void fill(Tensor& tensor, std::mt19937_64& generator) {
  // Drawn from the generator's bits by hand: the standard distributions differ from library to library.
  for (T& value : tensor.mutable_values<T>()) {
    const double unit = static_cast<double>(generator() >> 11) * 0x1p-52 - 1.0;  // [-1, 1)
    if constexpr (std::is_same_v<T, bool>) {
      value = unit < 0;
    } else if constexpr (std::is_integral_v<T>) {
      constexpr double kLargest = 8;
      value = static_cast<T>(std::is_signed_v<T> ? unit * (kLargest + 1) : (unit + 1) / 2 * (kLargest + 1));
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(unit);
    } else {
      value = T::from_double(unit);
    }
  }
}

}  // namespace

TensorFile read_for(const std::filesystem::path& path, const ValueDescription& value) {
  TensorFile file = read_tensor_file(path);
  if (value.type == ElementType::bf16 && file.value.type() == ElementType::u16 && path.extension() == ".npy") {
    file.value = bits_as(file.value, ElementType::bf16);
  }
  return file;
}

std::optional<std::filesystem::path> numbered_file(const std::filesystem::path& folder, const std::string& stem,
                                                   std::size_t number) {
  for (const char* ending : {".pb", ".npy"}) {
    std::filesystem::path path = folder / fmt::format("{}_{}{}", stem, number, ending);
    if (std::filesystem::exists(path)) return path;
  }
  return std::nullopt;
}

NamedTensors read_inputs(const Model& model, const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) {
    throw Error(ErrorCode::io, fmt::format("{}: not a folder", folder.string()));
  }
  const std::vector<ValueDescription> inputs = model.inputs();
  std::vector<const ValueDescription*> required;
  for (const ValueDescription& input : inputs) {
    if (!input.has_default) required.push_back(&input);
  }
  NamedTensors tensors;
  for (std::size_t i = 0;; ++i) {
    const auto path = numbered_file(folder, "input", i);
    if (!path) break;
    if (i < required.size()) {
      tensors.add(required[i]->name, read_for(*path, *required[i]).value);
      continue;
    }
    TensorFile extra = read_tensor_file(*path);
    const ValueDescription* input = find_optional_input(inputs, extra.name);
    if (input == nullptr) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: there is no input for it; inputs without a default: {}; with one: none named '{}'",
                              path->string(), required.size(), extra.name));
    }
    tensors.add(input->name, std::move(extra.value));
  }
  return tensors;
}

Tensor random_tensor(const ValueDescription& value, const std::map<std::string, std::int64_t>& extents,
                     std::uint64_t seed) {
  Tensor tensor = Tensor::uninitialized(value.type, fixed_shape(value, extents));
  std::mt19937_64 generator(seed);
  switch (value.type) {
    case ElementType::f16:
      fill<Float16>(tensor, generator);
      break;
    case ElementType::bf16:
      fill<BFloat16>(tensor, generator);
      break;
    case ElementType::f32:
      fill<float>(tensor, generator);
      break;
    case ElementType::f64:
      fill<double>(tensor, generator);
      break;
    case ElementType::i8:
      fill<std::int8_t>(tensor, generator);
      break;
    case ElementType::i16:
      fill<std::int16_t>(tensor, generator);
      break;
    case ElementType::i32:
      fill<std::int32_t>(tensor, generator);
      break;
    case ElementType::i64:
      fill<std::int64_t>(tensor, generator);
      break;
    case ElementType::u8:
      fill<std::uint8_t>(tensor, generator);
      break;
    case ElementType::u16:
      fill<std::uint16_t>(tensor, generator);
      break;
    case ElementType::u32:
      fill<std::uint32_t>(tensor, generator);
      break;
    case ElementType::u64:
      fill<std::uint64_t>(tensor, generator);
      break;
    case ElementType::boolean:
      fill<bool>(tensor, generator);
      break;
    default:
      throw Error(ErrorCode::unsupported,
                  fmt::format("input '{}': no random values of {}", value.name, to_string(value.type)));
  }
  return tensor;
}

void add_random_inputs(const Model& model, const std::map<std::string, std::int64_t>& extents, std::uint64_t seed,
                       NamedTensors& given) {
  const std::vector<ValueDescription> inputs = model.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_given =
        std::any_of(given.begin(), given.end(), [&](const auto& entry) { return entry.first == inputs[i].name; });
    if (inputs[i].has_default || is_given) continue;
    given.add(inputs[i].name, random_tensor(inputs[i], extents, seed + i));
  }
}

}  // namespace binet::tool
