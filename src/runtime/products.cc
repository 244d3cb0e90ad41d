// Room: runtime. binet::gemm: the operator's newest version, applied to tensors.
//
// The same shape rules and kernels as in a model; no graph, no plan that is kept.
#include <array>

#include "base/aligned_buffer.h"
#include "operators/broadcast_rules.h"
#include "operators/gemm_call.h"
#include "operators/matrix_rules.h"
#include "runtime/product_checks.h"
#include "tensor/shape.h"

namespace binet {
namespace {

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
  const MatrixExtents extents = named("Gemm", [&] { return gemm_extents(a, b, c, options); });
  Tensor output = Tensor::uninitialized(a.type(), {extents.m, extents.n});
  gemm_into(a, b, c, output, options);
  return output;
}

}  // namespace

void gemm_into(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& output, const GemmOptions& options) {
  const MatrixExtents extents = named("Gemm", [&] {
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
