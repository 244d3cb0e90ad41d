// Room: runtime. binet::mul and binet::gemm: the operators' newest versions, applied to tensors.
//
// The same shape rules and kernels as in a model; no graph, no plan that is kept.
#include "binet/products.h"

#include <array>
#include <functional>

#include "base/aligned_buffer.h"
#include "base/fail.h"
#include "kernels/elementwise/elementwise.h"
#include "operators/broadcast_rules.h"
#include "operators/gemm_call.h"
#include "operators/matrix_rules.h"
#include "operators/registry.h"
#include "tensor/shape.h"

namespace binet {
namespace {

/// Made at the first call, for all callers.
const ThreadPool& shared_pool() {
  static const ThreadPool pool;
  return pool;
}

const OperatorVersion& newest(std::string_view name) { return find_operator("ai.onnx", name).back(); }

/// Runs `rule`, whose messages do not say which product they are about.
template <class Rule>
auto named(const OperatorVersion& version, Rule&& rule) {
  try {
    return rule();
  } catch (const Error& error) {
    fail(ErrorCode::invalid_argument, "{}: {}", versioned_name(version), error.what());
  }
}

void check_types(const OperatorVersion& version, const Tensor& first, const Tensor* other) {
  if (!version.types.contains(first.type())) {
    fail(ErrorCode::invalid_argument, "element type {} is not allowed; allowed are {}", to_string(first.type()),
         version.types.names());
  }
  if (other != nullptr && other->type() != first.type()) {
    fail(ErrorCode::invalid_argument, "element types {} and {} meet; they must be the same", to_string(first.type()),
         to_string(other->type()));
  }
}

void check_output(const Tensor& output, ElementType type, const Shape& shape) {
  if (output.type() == type && output.shape() == shape) return;
  fail(ErrorCode::invalid_argument, "the output is {} {}; it must be {} {}", to_string(output.type()),
       to_string(output.shape()), to_string(type), to_string(shape));
}

bool overlaps(const Tensor& a, const Tensor& b) {
  // std::less orders pointers into different objects too.
  const std::less<const std::byte*> before;
  const auto of_a = a.bytes();
  const auto of_b = b.bytes();
  return !of_a.empty() && !of_b.empty() && before(of_a.data(), of_b.data() + of_b.size()) &&
         before(of_b.data(), of_a.data() + of_a.size());
}

void check_apart(std::string_view name, const Tensor& operand, const Tensor& output, bool may_be_same) {
  if (!overlaps(operand, output)) return;
  if (may_be_same && operand.bytes().data() == output.bytes().data() && operand.shape() == output.shape()) return;
  fail(ErrorCode::invalid_argument, "the output overlaps {}", name);
}

Shape mul_shape(const Tensor& a, const Tensor& b) {
  check_types(newest("Mul"), a, &b);
  Shape shape = *broadcast_multidirectional(a.shape(), b.shape());
  if (!element_count(shape))
    fail(ErrorCode::invalid_argument, "the size of the result {} does not fit", to_string(shape));
  return shape;
}

MatrixExtents gemm_extents(const Tensor& a, const Tensor& b, const Tensor* c, const GemmOptions& options) {
  check_types(newest("Gemm"), a, &b);
  check_types(newest("Gemm"), a, c);
  const MatrixExtents extents = matrix_product(a.shape(), options.trans_a, b.shape(), options.trans_b);
  const Shape shape = {extents.m, extents.n};
  if (c != nullptr) check_unidirectional("C", c->shape(), shape);
  if (!element_count(shape))
    fail(ErrorCode::invalid_argument, "the size of the result {} does not fit", to_string(shape));
  return extents;
}

Tensor gemm_of(const Tensor& a, const Tensor& b, const Tensor* c, const GemmOptions& options) {
  const MatrixExtents extents = named(newest("Gemm"), [&] { return gemm_extents(a, b, c, options); });
  Tensor output = Tensor::uninitialized(a.type(), {extents.m, extents.n});
  gemm_into(a, b, c, output, options);
  return output;
}

}  // namespace

void mul_into(const Tensor& a, const Tensor& b, Tensor& output) {
  named(newest("Mul"), [&] {
    check_output(output, a.type(), mul_shape(a, b));
    check_apart("A", a, output, true);
    check_apart("B", b, output, true);
  });
  const AlignedShapes shapes = align_right(a.shape(), b.shape());
  const BroadcastPlan plan = plan_broadcast(shapes.a, shapes.b);
  const auto kernel =
      kernels::elementwise::find_kernel(kernels::elementwise::Operation::multiply, a.type(), default_target());
  kernels::elementwise::run(plan, kernel, a.type(), a.bytes().data(), b.bytes().data(), output.mutable_bytes().data(),
                            shared_pool());
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor output = Tensor::uninitialized(a.type(), named(newest("Mul"), [&] { return mul_shape(a, b); }));
  mul_into(a, b, output);
  return output;
}

void gemm_into(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& output, const GemmOptions& options) {
  const MatrixExtents extents = named(newest("Gemm"), [&] {
    const MatrixExtents found = gemm_extents(a, b, c, options);
    check_output(output, a.type(), {found.m, found.n});
    check_apart("A", a, output, false);
    check_apart("B", b, output, false);
    if (c != nullptr) check_apart("C", *c, output, false);
    return found;
  });
  kernels::gemm::Problem problem = row_major_problem(a.type(), extents.m, extents.n, extents.k, options.trans_a,
                                                     options.trans_b, c == nullptr ? nullptr : &c->shape());
  problem.alpha = options.alpha;
  problem.beta = options.beta;
  const kernels::gemm::Plan plan = kernels::gemm::make_plan(problem, default_target(), shared_pool().threads(), false);
  // Small products need no memory from the heap.
  alignas(kCacheLine) std::array<std::byte, 4096> small;
  const AlignedBuffer large(plan.workspace_bytes > small.size() ? plan.workspace_bytes : 0);
  kernels::gemm::run(plan, a.bytes().data(), b.bytes().data(), c == nullptr ? nullptr : c->bytes().data(),
                     output.mutable_bytes().data(), large.size() != 0 ? large.data() : small.data(), shared_pool());
}

Tensor gemm(const Tensor& a, const Tensor& b, const GemmOptions& options) { return gemm_of(a, b, nullptr, options); }

Tensor gemm(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  return gemm_of(a, b, &c, options);
}

}  // namespace binet
