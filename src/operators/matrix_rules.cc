#include "operators/matrix_rules.h"

#include "base/fail.h"

namespace binet {
namespace {

struct Sides {
  Extent rows = kUnknownExtent;
  Extent columns = kUnknownExtent;
};

Sides sides_of(std::string_view name, const PartialShape& shape, bool transposed) {
  if (!shape) return {};
  if (shape->size() != 2) {
    fail(ErrorCode::invalid_model, "{} has shape {}; it must have rank 2", name, to_string(shape));
  }
  return transposed ? Sides{(*shape)[1], (*shape)[0]} : Sides{(*shape)[0], (*shape)[1]};
}

}  // namespace

MatrixExtents matrix_product(const PartialShape& a, bool trans_a, const PartialShape& b, bool trans_b) {
  const Sides of_a = sides_of("A", a, trans_a);
  const Sides of_b = sides_of("B", b, trans_b);
  const auto k = merge(of_a.columns, of_b.rows);
  if (!k) {
    fail(ErrorCode::invalid_model, "the inner extents differ: A {}{} gives {}, B {}{} gives {}", to_string(a),
         trans_a ? " transposed" : "", of_a.columns, to_string(b), trans_b ? " transposed" : "", of_b.rows);
  }
  return {of_a.rows, of_b.columns, *k};
}

}  // namespace binet
