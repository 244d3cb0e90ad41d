// Room: operators. OpenVINO Multiply: the elementwise product.
//
// https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/arithmetic/multiply-1.html
#include "operators/openvino/auto_broadcast.h"
#include "operators/openvino/openvino_operators.h"

namespace binet::openvino {
namespace {

Lowered lower(const NodeView& node, const ValueType& output, const LoweringContext& context) {
  return lower_auto_broadcast(kernels::elementwise::Operation::multiply, node, output, context);
}

}  // namespace

std::span<const OperatorVersion> multiply_versions() noexcept {
  static const std::array kVersions = {OperatorVersion{
      .name = "Multiply",
      .domain = "opset1",
      .since_version = 1,
      .types = kNumericTypes | kFourBitTypes,
      .attributes = kBroadcastAttributes,
      .input_names = kBroadcastInputs,
      .min_inputs = 2,
      .shape_rule = kBroadcastRule,
      .changed = "first version",
      .infer = infer_auto_broadcast,
      .lower = lower,
  }};
  return kVersions;
}

}  // namespace binet::openvino
