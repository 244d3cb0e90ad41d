// Room: operators. OpenVINO MatMul: the product of matrices, or of stacks of them.
//
// https://docs.openvino.ai/2024/documentation/openvino-ir-format/operation-sets/operation-specs/matrix/matmul-1.html
#include <array>

#include "base/fail.h"
#include "operators/batched_gemm_call.h"
#include "operators/broadcast_rules.h"
#include "operators/openvino/openvino_operators.h"

namespace binet::openvino {
namespace {

constexpr std::array<std::string_view, 2> kInputs = {"A", "B"};
constexpr std::array kAttributes = {
    AttributeRule{"transpose_a", AttributeKind::boolean, std::int64_t{0}},
    AttributeRule{"transpose_b", AttributeKind::boolean, std::int64_t{0}},
};

/// An operand after its transposition, a vector having become a matrix of one row (A) or of one column (B).
struct Matrices {
  std::vector<Extent> batch;
  Extent rows = 1;
  Extent columns = 1;
  bool is_vector = false;
  bool is_transposed = false;
};

Matrices matrices_of(const NodeView& node, std::size_t input) {
  const bool is_a = input == 0;
  const std::vector<Extent>& shape = *node.inputs[input]->shape;
  if (shape.empty()) fail(ErrorCode::invalid_model, "{} is a scalar; it must have rank 1 or more", kInputs[input]);
  Matrices matrices;
  matrices.is_vector = shape.size() == 1;
  if (matrices.is_vector) {
    (is_a ? matrices.columns : matrices.rows) = shape[0];
    return matrices;
  }
  matrices.is_transposed = *node.attribute<std::int64_t>(is_a ? "transpose_a" : "transpose_b") != 0;
  matrices.batch.assign(shape.begin(), shape.end() - 2);
  matrices.rows = shape[shape.size() - 2];
  matrices.columns = shape[shape.size() - 1];
  if (matrices.is_transposed) std::swap(matrices.rows, matrices.columns);
  return matrices;
}

std::vector<Extent> batch_of(const NodeView& node, const Matrices& a, const Matrices& b) {
  try {
    return *broadcast_multidirectional(a.batch, b.batch);
  } catch (const Error&) {
    fail(ErrorCode::invalid_model,
         "A has shape {} and B {}: before the last two, extents must be equal, or one of them 1",
         to_string(node.inputs[0]->shape), to_string(node.inputs[1]->shape));
  }
}

ValueType infer(const NodeView& node) {
  const ElementType type = node.inputs[0]->type;
  if (!node.inputs[0]->shape || !node.inputs[1]->shape) return {type, std::nullopt};
  const Matrices a = matrices_of(node, 0);
  const Matrices b = matrices_of(node, 1);
  if (!merge(a.columns, b.rows)) {
    fail(ErrorCode::invalid_model, "the inner extents differ: A {}{} gives {}, B {}{} gives {}",
         to_string(node.inputs[0]->shape), a.is_transposed ? " transposed" : "", a.columns,
         to_string(node.inputs[1]->shape), b.is_transposed ? " transposed" : "", b.rows);
  }
  std::vector<Extent> shape = batch_of(node, a, b);
  if (!a.is_vector) shape.push_back(a.rows);
  if (!b.is_vector) shape.push_back(b.columns);
  return {type, shape};
}

Lowered lower(const NodeView& node, const ValueType& output, const LoweringContext& context) {
  const Matrices a = matrices_of(node, 0);
  const Matrices b = matrices_of(node, 1);
  const kernels::gemm::Problem problem =
      row_major_problem(output.type, a.rows, b.columns, a.columns, a.is_transposed, b.is_transposed, nullptr);
  return lower_batched_gemm(problem, align_right(a.batch, b.batch), context);
}

}  // namespace

std::span<const OperatorVersion> matmul_versions() noexcept {
  static const std::array kVersions = {OperatorVersion{
      .name = "MatMul",
      .domain = "opset1",
      .since_version = 1,
      .types = kFloatTypes | kBFloatType | kWideIntegerTypes,
      .attributes = kAttributes,
      .input_names = kInputs,
      .min_inputs = 2,
      .shape_rule = "(...,M,N); a vector is a row (A) or a column (B), and its extent goes; the rest multidirectional",
      .changed = "first version",
      .infer = infer,
      .lower = lower,
  }};
  return kVersions;
}

}  // namespace binet::openvino
