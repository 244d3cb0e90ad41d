#include "operators/openvino/auto_broadcast.h"

#include "base/fail.h"
#include "base/text.h"
#include "operators/four_bit_call.h"
#include "operators/openvino/openvino_operators.h"

namespace binet::openvino {
namespace {

enum class Mode { none, numpy, pdpd };

Mode mode_of(const NodeView& node) {
  const std::string text = *node.attribute<std::string>("auto_broadcast");
  Mode mode = Mode::numpy;
  if (text == "none") {
    mode = Mode::none;
  } else if (text == "pdpd") {
    mode = Mode::pdpd;
  } else if (text != "numpy") {
    fail(ErrorCode::invalid_model, "auto_broadcast is {}; it must be none, numpy or pdpd", quote(text));
  }
  const std::int64_t axis = *node.attribute<std::int64_t>("axis");
  if (mode != Mode::pdpd && axis != -1) {
    fail(ErrorCode::invalid_model, "axis is {}, but auto_broadcast is {}; an axis is for pdpd", axis, text);
  }
  return mode;
}

PartialShape equal_shape(const PartialShape& a, const PartialShape& b) {
  const auto shape = merge(a, b);
  if (!shape) {
    fail(ErrorCode::invalid_model, "A has shape {} and B {}; with auto_broadcast none they must be equal", to_string(a),
         to_string(b));
  }
  return *shape;
}

AlignedShapes align(const NodeView& node) {
  const Shape& a = *node.inputs[0]->shape;
  const Shape& b = *node.inputs[1]->shape;
  if (mode_of(node) != Mode::pdpd) return align_right(a, b);
  return align_pdpd(a, b, *node.attribute<std::int64_t>("axis"));
}

}  // namespace

ValueType infer_auto_broadcast(const NodeView& node) {
  const ElementType type = node.inputs[0]->type;
  const PartialShape& a = node.inputs[0]->shape;
  const PartialShape& b = node.inputs[1]->shape;
  switch (mode_of(node)) {
    case Mode::none:
      return {type, equal_shape(a, b)};
    case Mode::numpy:
      return {type, broadcast_multidirectional(a, b)};
    case Mode::pdpd:
      break;
  }
  return {type, broadcast_pdpd(a, b, *node.attribute<std::int64_t>("axis"))};
}

Lowered lower_auto_broadcast(kernels::elementwise::Operation operation, const NodeView& node, const ValueType& output,
                             const LoweringContext& context) {
  const AlignedShapes shapes = align(node);
  if (kFourBitTypes.contains(output.type)) return lower_four_bit(operation, output.type, shapes, context);
  return lower_elementwise(operation, output.type, shapes, context);
}

}  // namespace binet::openvino
