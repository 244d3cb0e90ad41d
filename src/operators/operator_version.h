// Room: operators. One version of one operator is one row: an OperatorVersion.
//
// The rows of an operator stand in one table in its file (onnx/mul.cc, ...), to be held next to the operator's page.
// They feed the binding of nodes, `binet operators`, the README's table and the tests of coverage.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/element_types.h"
#include "base/target.h"
#include "operators/kernel_call.h"
#include "tensor/partial_shape.h"

namespace binet {

/// `unsupported`: the standard has the attribute, Binet does not; a node that gives it is refused with those words.
enum class AttributeKind : std::uint8_t { integer, real, text, integers, reals, tensor, boolean, unsupported };
[[nodiscard]] std::string_view to_string(AttributeKind kind) noexcept;

/// The value of an attribute; nothing where it is absent and has no default. A boolean is the integer 0 or 1.
using AttributeSetting = std::variant<std::monostate, std::int64_t, float, std::string, std::vector<std::int64_t>,
                                      std::vector<float>, Tensor>;

/// An attribute that a version has. A default is a number or a text; other kinds have none.
struct AttributeRule {
  std::string_view name;
  AttributeKind kind;
  std::variant<std::monostate, std::int64_t, float, std::string_view> fallback = {};
};

struct OperatorVersion;

/// An element type, and a shape as far as it is known.
struct ValueType {
  ElementType type = ElementType::f32;
  PartialShape shape;
};

/// A node as its operator sees it.
struct NodeView {
  const OperatorVersion& version;
  std::span<const AttributeSetting> attributes;  ///< in the order of version.attributes, defaults filled in
  std::span<const ValueType* const> inputs;      ///< null where left out; as many as the version's input names

  /// The attribute, which must be one of the version's rules and be of that kind; nothing if it is absent.
  template <class T>
  [[nodiscard]] std::optional<T> attribute(std::string_view name) const;
};

/// What lowering needs to know beyond the node.
struct LoweringContext {
  const Target& target;
  int threads = 1;
  std::span<const std::uint8_t> constant_inputs = {};  ///< for each input 1 if its value never changes; empty: none
};

/// Tells one form of a constant from its others: whatever the bytes of the form depend on beside the constant.
using FormKey = std::array<std::int64_t, 7>;

/// A constant input in the form that the kernel wants. The runtime makes it, once for all that ask for the same, and
/// puts it into the input's place.
struct ConstantForm {
  std::size_t input = 0;
  FormKey key{};
  std::size_t bytes = 0;
  std::function<void(const std::byte* constant, std::byte* form, const ThreadPool& pool)> make;
};

struct Lowered {
  std::unique_ptr<KernelCall> call;
  std::vector<ConstantForm> forms;
};

struct OperatorVersion {
  std::string_view name;
  std::string_view domain;
  int since_version = 1;
  TypeSet types;
  std::span<const AttributeRule> attributes;
  std::span<const std::string_view> input_names;
  int min_inputs = 0;  ///< inputs after these may be left out
  std::string_view shape_rule;
  std::string_view changed;  ///< what this version changed

  /// The output's type and shape from the inputs'. Throws Error that says what does not fit, without naming the node.
  ValueType (*infer)(const NodeView& node) = nullptr;
  /// The computation, for inputs whose shapes are known and have passed infer().
  Lowered (*lower)(const NodeView& node, const ValueType& output, const LoweringContext& context) = nullptr;
  /// For an operator without inputs: its value, in place of lower().
  Tensor (*constant)(const NodeView& node) = nullptr;
};

/// "Mul-7".
[[nodiscard]] std::string versioned_name(const OperatorVersion& version);

template <class T>
std::optional<T> NodeView::attribute(std::string_view name) const {
  for (std::size_t i = 0; i < version.attributes.size(); ++i) {
    if (version.attributes[i].name != name) continue;
    const T* value = std::get_if<T>(&attributes[i]);
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }
  return std::nullopt;
}

}  // namespace binet
