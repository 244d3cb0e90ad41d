// Room: runtime. binet::gemm: the operator's newest version, applied to tensors.
//
// The same shape rules and kernels as in a model; no graph. A thread keeps the plans of the products that it met last,
// and the workspace of the largest one, so a product that comes again costs a comparison and allocates nothing.
#include <bit>
#include <memory>
#include <utility>

#include "base/aligned_buffer.h"
#include "operators/broadcast_rules.h"
#include "operators/gemm_call.h"
#include "operators/matrix_rules.h"
#include "runtime/product_checks.h"
#include "runtime/recent_products.h"
#include "tensor/shape.h"

namespace binet {
namespace {

/// One set of operands, whose types and shapes go together.
struct Product {
  ElementType type = ElementType::boolean;
  GemmOptions options;
  Shape a, b, c;
  bool has_c = false;
  Shape y;
  kernels::gemm::Plan plan;

  [[nodiscard]] bool is_for(const Tensor& of_a, const Tensor& of_b, const Tensor* of_c, const GemmOptions& of) const {
    // Factors by their bits: a NaN is to be found again.
    return type == of_a.type() && type == of_b.type() && is_same(a, of_a.shape()) && is_same(b, of_b.shape()) &&
           has_c == (of_c != nullptr) && (!has_c || (type == of_c->type() && is_same(c, of_c->shape()))) &&
           options.trans_a == of.trans_a && options.trans_b == of.trans_b &&
           std::bit_cast<std::uint32_t>(options.alpha) == std::bit_cast<std::uint32_t>(of.alpha) &&
           std::bit_cast<std::uint32_t>(options.beta) == std::bit_cast<std::uint32_t>(of.beta);
  }
};

Product make_product(const Tensor& a, const Tensor& b, const Tensor* c, const GemmOptions& options) {
  check_types(newest("Gemm"), a, &b);
  check_types(newest("Gemm"), a, c);
  const MatrixExtents extents = matrix_product(a.shape(), options.trans_a, b.shape(), options.trans_b);
  Shape y = {extents.m, extents.n};
  if (c != nullptr) check_unidirectional("C", c->shape(), y);
  if (!element_count(y)) fail(ErrorCode::invalid_argument, "the size of the result {} does not fit", to_string(y));

  kernels::gemm::Problem problem = row_major_problem(a.type(), extents.m, extents.n, extents.k, options.trans_a,
                                                     options.trans_b, c == nullptr ? nullptr : &c->shape());
  problem.alpha = options.alpha;
  problem.beta = options.beta;
  const auto plan = kernels::gemm::make_plan(problem, default_target(), shared_pool().threads(), false);
  return {a.type(),     options,      a.shape(), b.shape(), c == nullptr ? Shape{} : c->shape(),
          c != nullptr, std::move(y), plan};
}

/// Apart, so that a product that is known needs none of its registers and stack.
[[gnu::noinline, gnu::cold]] void replace(std::unique_ptr<Product>& product, const Tensor& a, const Tensor& b,
                                          const Tensor* c, const GemmOptions& options) {
  product = std::make_unique<Product>(make_product(a, b, c, options));
}

/// What a thread keeps.
struct Kept {
  RecentProducts<Product> products;
  AlignedBuffer workspace;  ///< of the largest
};

Kept& kept_by_this_thread() {
  thread_local Kept kept;
  return kept;
}

/// The calling thread's product of these operands, valid until its next call; its workspace is large enough.
const Product& product_of(Kept& kept, const Tensor& a, const Tensor& b, const Tensor* c, const GemmOptions& options) {
  std::unique_ptr<Product>& place =
      kept.products.at(hash_of(a, b, (options.trans_a ? 2 : 0) + (options.trans_b ? 1 : 0)));
  if (place == nullptr || !place->is_for(a, b, c, options)) replace(place, a, b, c, options);
  const Product& product = *place;
  if (kept.workspace.size() < product.plan.workspace_bytes) {
    kept.workspace = AlignedBuffer();  // not both at once
    kept.workspace = AlignedBuffer(product.plan.workspace_bytes);
  }
  return product;
}

Tensor gemm_of(const Tensor& a, const Tensor& b, const Tensor* c, const GemmOptions& options) {
  Tensor output = named(
      "Gemm", [&] { return Tensor::uninitialized(a.type(), product_of(kept_by_this_thread(), a, b, c, options).y); });
  gemm_into(a, b, c, output, options);
  return output;
}

}  // namespace

void gemm_into(const Tensor& a, const Tensor& b, const Tensor* c, Tensor& output, const GemmOptions& options) {
  Kept& kept = kept_by_this_thread();
  const kernels::gemm::Plan& plan = named("Gemm", [&]() -> const kernels::gemm::Plan& {
    const Product& product = product_of(kept, a, b, c, options);
    check_output(output, a.type(), product.y);
    check_apart("A", a, output, false);
    check_apart("B", b, output, false);
    if (c != nullptr) check_apart("C", *c, output, false);
    return product.plan;
  });
  kernels::gemm::run(plan, a.bytes().data(), b.bytes().data(), c == nullptr ? nullptr : c->bytes().data(),
                     output.mutable_bytes().data(), kept.workspace.data(), shared_pool());
}

Tensor gemm(const Tensor& a, const Tensor& b, const GemmOptions& options) { return gemm_of(a, b, nullptr, options); }

Tensor gemm(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options) {
  return gemm_of(a, b, &c, options);
}

}  // namespace binet
