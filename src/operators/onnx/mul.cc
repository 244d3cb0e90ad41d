// Room: operators. ONNX Mul: the elementwise product.
//
// https://onnx.ai/onnx/operators/onnx__Mul.html
#include <array>

#include "operators/elementwise_call.h"
#include "operators/onnx/onnx_operators.h"

namespace binet::onnx {
namespace {

constexpr std::array<std::string_view, 2> kInputs = {"A", "B"};

constexpr std::array kAttributesOf1 = {
    AttributeRule{"axis", AttributeKind::integer}, AttributeRule{"broadcast", AttributeKind::integer, std::int64_t{0}},
    AttributeRule{"consumed_inputs",
                  AttributeKind::integers},  // a hint for in-place computation; has no effect on values
};
constexpr std::array kAttributesOf6 = {
    AttributeRule{"axis", AttributeKind::integer},
    AttributeRule{"broadcast", AttributeKind::integer, std::int64_t{0}},
};

std::size_t place_of_b(const NodeView& node) {
  return check_limited(node.inputs[0]->shape, node.inputs[1]->shape, *node.attribute<std::int64_t>("broadcast") != 0,
                       node.attribute<std::int64_t>("axis"));
}

ValueType infer_limited(const NodeView& node) {
  static_cast<void>(place_of_b(node));
  return *node.inputs[0];
}

ValueType infer_multidirectional(const NodeView& node) {
  return {node.inputs[0]->type, broadcast_multidirectional(node.inputs[0]->shape, node.inputs[1]->shape)};
}

Lowered lower_limited(const NodeView& node, const ValueType& output, const LoweringContext& context) {
  return lower_elementwise(kernels::elementwise::Operation::multiply, output.type,
                           align_at(*node.inputs[0]->shape, *node.inputs[1]->shape, place_of_b(node)), context);
}

Lowered lower_multidirectional(const NodeView& node, const ValueType& output, const LoweringContext& context) {
  return lower_elementwise(kernels::elementwise::Operation::multiply, output.type,
                           align_right(*node.inputs[0]->shape, *node.inputs[1]->shape), context);
}

constexpr std::string_view kLimited =
    "A's shape; B equal, or with broadcast=1 one element or a run of A's dims at axis";
constexpr std::string_view kMultidirectional = "multidirectional (numpy)";

OperatorVersion limited(int since, TypeSet types, std::span<const AttributeRule> attributes, std::string_view changed) {
  return {.name = "Mul",
          .domain = "ai.onnx",
          .since_version = since,
          .types = types,
          .attributes = attributes,
          .input_names = kInputs,
          .min_inputs = 2,
          .shape_rule = kLimited,
          .changed = changed,
          .infer = infer_limited,
          .lower = lower_limited};
}

OperatorVersion multidirectional(int since, TypeSet types, std::string_view changed) {
  return {.name = "Mul",
          .domain = "ai.onnx",
          .since_version = since,
          .types = types,
          .attributes = {},
          .input_names = kInputs,
          .min_inputs = 2,
          .shape_rule = kMultidirectional,
          .changed = changed,
          .infer = infer_multidirectional,
          .lower = lower_multidirectional};
}

}  // namespace

std::span<const OperatorVersion> mul_versions() noexcept {
  // clang-format off
  static const std::array kVersions = {
      limited(1, kFloatTypes, kAttributesOf1, "first version"),
      limited(6, kFloatTypes | kWideIntegerTypes, kAttributesOf6, "32- and 64-bit integers; consumed_inputs gone"),
      multidirectional(7, kFloatTypes | kWideIntegerTypes, "multidirectional broadcasting; broadcast and axis gone"),
      multidirectional(13, kFloatTypes | kWideIntegerTypes | kBFloatType, "bf16"),
      multidirectional(14, kNumericTypes, "8- and 16-bit integers"),
  };
  // clang-format on
  return kVersions;
}

}  // namespace binet::onnx
