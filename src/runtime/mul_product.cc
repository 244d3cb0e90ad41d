// Room: runtime. binet::mul: the operator's newest version, applied to tensors.
//
// The same shape rules and kernels as in a model; no graph. A thread keeps the plans of the pairs of shapes that it met
// last, so a pair that comes again costs a comparison.
#include <memory>
#include <utility>

#include "kernels/elementwise/plan.h"
#include "operators/broadcast_rules.h"
#include "runtime/product_checks.h"
#include "runtime/recent_products.h"
#include "tensor/shape.h"

namespace binet {
namespace {

using kernels::elementwise::Plan;

Shape mul_shape(const Tensor& a, const Tensor& b) {
  check_types(newest("Mul"), a, &b);
  Shape shape = *broadcast_multidirectional(a.shape(), b.shape());
  if (!element_count(shape))
    fail(ErrorCode::invalid_argument, "the size of the result {} does not fit", to_string(shape));
  return shape;
}

/// One pair of operands, whose types and shapes go together.
struct Product {
  ElementType type = ElementType::boolean;
  Shape a;
  Shape b;
  Shape y;
  Plan plan;

  [[nodiscard]] bool is_for(const Tensor& of_a, const Tensor& of_b) const {
    return type == of_a.type() && type == of_b.type() && is_same(a, of_a.shape()) && is_same(b, of_b.shape());
  }
};

Product make_product(const Tensor& a, const Tensor& b) {
  Shape y = mul_shape(a, b);
  const AlignedShapes shapes = align_right(a.shape(), b.shape());
  Plan plan = make_plan(kernels::elementwise::Operation::multiply, a.type(), plan_broadcast(shapes.a, shapes.b),
                        default_target());
  return {a.type(), a.shape(), b.shape(), std::move(y), std::move(plan)};
}

/// Apart, so that a pair that is known needs none of its registers and stack.
[[gnu::noinline, gnu::cold]] void replace(std::unique_ptr<Product>& product, const Tensor& a, const Tensor& b) {
  product = std::make_unique<Product>(make_product(a, b));
}

/// The calling thread's plan for these operands, valid until its next call.
const Product& product_of(const Tensor& a, const Tensor& b) {
  thread_local RecentProducts<Product> products;
  std::unique_ptr<Product>& product = products.at(hash_of(a, b));
  if (product == nullptr || !product->is_for(a, b)) replace(product, a, b);
  return *product;
}

}  // namespace

void mul_into(const Tensor& a, const Tensor& b, Tensor& output) {
  const Plan& plan = named("Mul", [&]() -> const Plan& {
    const Product& product = product_of(a, b);
    check_output(output, a.type(), product.y);
    check_apart("A", a, output, true);
    check_apart("B", b, output, true);
    return product.plan;
  });
  run(plan, a.bytes().data(), b.bytes().data(), output.mutable_bytes().data(), shared_pool());
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor output = named("Mul", [&] { return Tensor::uninitialized(a.type(), product_of(a, b).y); });
  mul_into(a, b, output);
  return output;
}

}  // namespace binet
