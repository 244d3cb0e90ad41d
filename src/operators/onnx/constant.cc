// Room: operators. ONNX Constant: a tensor that stands in the node itself.
//
// https://onnx.ai/onnx/operators/onnx__Constant.html
// From version 12 on, numbers and lists of numbers may stand there too; sparse tensors and strings are not supported.
#include <array>

#include "base/fail.h"
#include "operators/onnx/onnx_operators.h"

namespace binet::onnx {
namespace {

constexpr std::array kAttributesOf1 = {AttributeRule{"value", AttributeKind::tensor}};
constexpr AttributeRule kSparseValue{"sparse_value", AttributeKind::unsupported};

constexpr std::array kAttributesOf11 = {AttributeRule{"value", AttributeKind::tensor}, kSparseValue};
constexpr std::array kAttributesOf12 = {
    AttributeRule{"value", AttributeKind::tensor},
    AttributeRule{"value_float", AttributeKind::real},
    AttributeRule{"value_floats", AttributeKind::reals},
    AttributeRule{"value_int", AttributeKind::integer},
    AttributeRule{"value_ints", AttributeKind::integers},
    AttributeRule{"value_string", AttributeKind::unsupported},
    AttributeRule{"value_strings", AttributeKind::unsupported},
    kSparseValue,
};

constexpr TypeSet kTypesOf9 = kFloatTypes | kWideIntegerTypes | kNarrowIntegerTypes |
                              TypeSet{ElementType::boolean, ElementType::complex64, ElementType::complex128};
constexpr TypeSet kTypesOf13 = kTypesOf9 | kBFloatType;
constexpr TypeSet kTypesOf19 =
    kTypesOf13 | TypeSet{ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2, ElementType::f8e5m2fnuz};
constexpr TypeSet kTypesOf24 = kTypesOf19 | TypeSet{ElementType::f8e8m0};

/// One overload a kind of attribute value.
struct ToTensor {
  Tensor operator()(const Tensor& value) const { return value; }
  Tensor operator()(float value) const { return Tensor::from<float>({}, {value}); }
  Tensor operator()(std::int64_t value) const { return Tensor::from<std::int64_t>({}, {value}); }
  template <class T>
  Tensor operator()(const std::vector<T>& values) const {
    return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
  }
  // No rule above lets these through.
  Tensor operator()(const std::string& /*value*/) const { return {}; }
  Tensor operator()(std::monostate /*absent*/) const { return {}; }
};

Tensor constant(const NodeView& node) {
  const AttributeSetting* given = nullptr;
  for (const AttributeSetting& setting : node.attributes) {
    if (std::holds_alternative<std::monostate>(setting)) continue;
    if (given != nullptr) fail(ErrorCode::invalid_model, "more than one value attribute is given; it must be one");
    given = &setting;
  }
  if (given == nullptr) fail(ErrorCode::invalid_model, "no value attribute is given; it must be one");
  return std::visit(ToTensor{}, *given);
}

ValueType infer(const NodeView& node) {
  const Tensor value = constant(node);
  return {value.type(), value.shape()};
}

OperatorVersion version(int since, TypeSet types, std::span<const AttributeRule> attributes, std::string_view changed) {
  return {.name = "Constant",
          .domain = "ai.onnx",
          .since_version = since,
          .types = types,
          .attributes = attributes,
          .input_names = {},
          .min_inputs = 0,
          .shape_rule = "the value's",
          .changed = changed,
          .infer = infer,
          .constant = constant};
}

}  // namespace

std::span<const OperatorVersion> constant_versions() noexcept {
  // clang-format off
  static const std::array kVersions = {
      version(1, kFloatTypes, kAttributesOf1, "first version"),
      version(9, kTypesOf9, kAttributesOf1, "every type of its time"),
      version(11, kTypesOf9, kAttributesOf11, "sparse_value (not supported here)"),
      version(12, kTypesOf9, kAttributesOf12, "value_float, value_int and lists of them"),
      version(13, kTypesOf13, kAttributesOf12, "bf16"),
      version(19, kTypesOf19, kAttributesOf12, "8-bit floats"),
      version(21, kTypesOf19, kAttributesOf12, "4-bit integers (not supported here)"),
      version(23, kTypesOf19, kAttributesOf12, "4-bit floats (not supported here)"),
      version(24, kTypesOf24, kAttributesOf12, "f8e8m0"),
      version(25, kTypesOf24, kAttributesOf12, "2-bit integers (not supported here)"),
  };
  // clang-format on
  return kVersions;
}

}  // namespace binet::onnx
