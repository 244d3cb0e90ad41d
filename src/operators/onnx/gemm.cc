// Room: operators. ONNX Gemm: Y = alpha * op(A) * op(B) + beta * C.
//
// https://onnx.ai/onnx/operators/onnx__Gemm.html
#include <array>

#include "base/fail.h"
#include "operators/broadcast_rules.h"
#include "operators/gemm_call.h"
#include "operators/matrix_rules.h"
#include "operators/onnx/onnx_operators.h"

namespace binet::onnx {
namespace {

constexpr std::array<std::string_view, 3> kInputs = {"A", "B", "C"};

constexpr AttributeRule kAlpha{"alpha", AttributeKind::real, 1.0f};
constexpr AttributeRule kBeta{"beta", AttributeKind::real, 1.0f};
constexpr AttributeRule kBroadcast{"broadcast", AttributeKind::integer, std::int64_t{0}};
constexpr AttributeRule kTransA{"transA", AttributeKind::integer, std::int64_t{0}};
constexpr AttributeRule kTransB{"transB", AttributeKind::integer, std::int64_t{0}};

constexpr std::array kAttributesOf1 = {kAlpha, kBeta, kBroadcast, kTransA, kTransB};
constexpr std::array kAttributesOf7 = {kAlpha, kBeta, kTransA, kTransB};

bool transposed(const NodeView& node, std::string_view name) { return *node.attribute<std::int64_t>(name) != 0; }

MatrixExtents extents_of(const NodeView& node) {
  return matrix_product(node.inputs[0]->shape, transposed(node, "transA"), node.inputs[1]->shape,
                        transposed(node, "transB"));
}

ValueType infer_unidirectional(const NodeView& node) {
  const MatrixExtents extents = extents_of(node);
  const PartialShape shape = std::vector<Extent>{extents.m, extents.n};
  if (node.inputs[2] != nullptr) check_unidirectional("C", node.inputs[2]->shape, shape);
  return {node.inputs[0]->type, shape};
}

/// Before version 7 the attribute broadcast has to allow that C is stretched.
ValueType infer_with_attribute(const NodeView& node) {
  ValueType output = infer_unidirectional(node);
  const PartialShape& c = node.inputs[2]->shape;
  if (*node.attribute<std::int64_t>("broadcast") == 0 && !merge(c, output.shape)) {
    fail(ErrorCode::invalid_model, "C has shape {}; without broadcast=1 it must be {}", to_string(c),
         to_string(output.shape));
  }
  return output;
}

Lowered lower(const NodeView& node, const ValueType& output, const LoweringContext& context) {
  const MatrixExtents extents = extents_of(node);
  kernels::gemm::Problem problem =
      row_major_problem(output.type, extents.m, extents.n, extents.k, transposed(node, "transA"),
                        transposed(node, "transB"), node.inputs[2] == nullptr ? nullptr : &*node.inputs[2]->shape);
  problem.alpha = *node.attribute<float>("alpha");
  problem.beta = *node.attribute<float>("beta");
  return lower_gemm(problem, context);
}

constexpr std::string_view kWithAttribute = "(M,N); C equal, or with broadcast=1 broadcast to it";
constexpr std::string_view kUnidirectional = "(M,N); C unidirectional to it";

OperatorVersion with_attribute(int since, std::string_view changed) {
  return {.name = "Gemm",
          .domain = "ai.onnx",
          .since_version = since,
          .types = kFloatTypes,
          .attributes = kAttributesOf1,
          .input_names = kInputs,
          .min_inputs = 3,
          .shape_rule = kWithAttribute,
          .changed = changed,
          .infer = infer_with_attribute,
          .lower = lower};
}

OperatorVersion unidirectional(int since, TypeSet types, int min_inputs, std::string_view changed) {
  return {.name = "Gemm",
          .domain = "ai.onnx",
          .since_version = since,
          .types = types,
          .attributes = kAttributesOf7,
          .input_names = kInputs,
          .min_inputs = min_inputs,
          .shape_rule = kUnidirectional,
          .changed = changed,
          .infer = infer_unidirectional,
          .lower = lower};
}

}  // namespace

std::span<const OperatorVersion> gemm_versions() noexcept {
  // clang-format off
  static const std::array kVersions = {
      with_attribute(1, "first version"),
      with_attribute(6, "shape inference only"),
      unidirectional(7, kFloatTypes, 3, "C broadcasts to (M,N) by itself; broadcast gone"),
      unidirectional(9, kFloatTypes | kWideIntegerTypes, 3, "32- and 64-bit integers"),
      unidirectional(11, kFloatTypes | kWideIntegerTypes, 2, "C may be left out"),
      unidirectional(13, kFloatTypes | kWideIntegerTypes | kBFloatType, 2, "bf16"),
  };
  // clang-format on
  return kVersions;
}

}  // namespace binet::onnx
