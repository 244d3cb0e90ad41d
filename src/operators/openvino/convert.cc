// Room: operators. OpenVINO Convert: each element as another element type.
//
// https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/type/convert-1.html
// What the page leaves open (floats outside of an integer type's range) is said in kernels/convert/convert.h.
#include "kernels/convert/convert.h"

#include <array>

#include "base/fail.h"
#include "base/text.h"
#include "operators/openvino/openvino_operators.h"
#include "tensor/shape.h"

namespace binet::openvino {
namespace {

constexpr std::array<std::string_view, 1> kInputs = {"input"};
constexpr std::array kAttributes = {AttributeRule{"destination_type", AttributeKind::text}};
constexpr TypeSet kTypes = kNumericTypes | kFourBitTypes;

class ConvertCall final : public KernelCall {
 public:
  ConvertCall(ElementType from, ElementType to, std::int64_t elements)
      : from_(from), to_(to), elements_(elements), kernel_(kernels::convert::find_kernel(from, to)) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    kernels::convert::run(kernel_, elements_, operands.inputs[0], operands.output, pool);
  }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("convert {} to {}", to_string(from_), to_string(to_));
  }

 private:
  ElementType from_;
  ElementType to_;
  std::int64_t elements_;
  kernels::convert::ConvertFunction kernel_;
};

ValueType infer(const NodeView& node) {
  const auto name = node.attribute<std::string>("destination_type");
  if (!name) fail(ErrorCode::invalid_model, "attribute destination_type is missing");
  const auto type = element_type_from_name(*name);
  if (!type || !kTypes.contains(*type)) {
    fail(type ? ErrorCode::unsupported : ErrorCode::invalid_model, "destination_type is {}; it must be one of {}",
         quote(*name), kTypes.names());
  }
  return {*type, node.inputs[0]->shape};
}

Lowered lower(const NodeView& node, const ValueType& output, const LoweringContext& /*context*/) {
  return {std::make_unique<ConvertCall>(node.inputs[0]->type, output.type, *element_count(*output.shape)), {}};
}

}  // namespace

std::span<const OperatorVersion> convert_versions() noexcept {
  static const std::array kVersions = {OperatorVersion{
      .name = "Convert",
      .domain = "opset1",
      .since_version = 1,
      .types = kTypes,
      .attributes = kAttributes,
      .input_names = kInputs,
      .min_inputs = 1,
      .shape_rule = "the input's",
      .changed = "first version",
      .infer = infer,
      .lower = lower,
  }};
  return kVersions;
}

}  // namespace binet::openvino
