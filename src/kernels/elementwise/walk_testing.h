// Room: kernels. What the tests of whole calls share: pairs of shapes, pinned and random, and the product by a walk
// over indices that shares no code with the plans.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "binet/tensor.h"
#include "kernels/elementwise/plan.h"
#include "kernels/elementwise/test_values.h"

namespace binet::kernels::elementwise::testing {

/// Two shapes of the same rank that broadcast.
struct Shapes {
  Shape a;
  Shape b;
};

inline const Shapes kShapes[] = {
    {{}, {}},
    {{1}, {1}},
    {{2, 3, 4, 5}, {1, 1, 1, 1}},
    {{2, 3, 4, 5}, {1, 1, 1, 5}},
    {{1, 1, 4, 5}, {2, 3, 4, 5}},
    {{2, 3, 4, 5}, {1, 3, 4, 1}},
    {{1, 1, 4, 5}, {2, 3, 1, 1}},
    {{8, 1, 6, 1}, {1, 7, 1, 5}},
    {{100000, 3}, {1, 3}},
    {{100000, 3}, {100000, 1}},
    {{3, 100000}, {3, 1}},
    {{300, 1, 3}, {1, 300, 3}},
    {{300, 1, 5}, {1, 300, 1}},
    {{700, 1}, {1, 700}},
    {{4, 16, 28, 28}, {1, 16, 1, 1}},
    {{4, 1, 32, 64}, {4, 32, 1, 64}},
    {{1, 40, 1, 2, 1, 2, 1, 2}, {30, 1, 3, 1, 2, 1, 2, 1}},
    {{300001}, {300001}},
    {{300001}, {1}},
    {{2, 150001}, {1, 150001}},
    {{6000, 1, 17}, {1, 3, 17}},
    {{7, 40, 131}, {7, 1, 131}},  // a shared row that f16 converts once
};

inline std::int64_t count_elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// The element of `shape` that meets the result's element number `index`.
inline std::int64_t operand_index(const Shape& shape, const Shape& result, std::int64_t index) {
  std::int64_t at = 0;
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1) at += index % result[i] * step;
    index /= result[i];
    step *= shape[i];
  }
  return at;
}

inline Shape result_shape(const Shapes& shapes) {
  Shape result = shapes.a;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result[i] == 1) result[i] = shapes.b[i];
  }
  return result;
}

/// The elements of an operand, one for each of the result.
inline Bytes in_order_of(const Shape& result, const Shape& shape, const Bytes& operand, std::size_t size) {
  const auto count = static_cast<std::size_t>(count_elements(result));
  Bytes laid_out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(operand_index(shape, result, static_cast<std::int64_t>(i)));
    std::memcpy(laid_out.data() + i * size, operand.data() + from * size, size);
  }
  return laid_out;
}

inline Bytes expected_result(ElementType type, const Shapes& shapes, const Bytes& a, const Bytes& b) {
  const std::size_t size = byte_size(type);
  const Shape result = result_shape(shapes);
  const Bytes all_a = in_order_of(result, shapes.a, a, size);
  const Bytes all_b = in_order_of(result, shapes.b, b, size);
  Bytes y(all_a.size());
  Rows one_row;
  one_row.elements = count_elements(result);
  reference_kernel(Operation::multiply, type)(one_row, all_a.data(), all_b.data(), y.data());
  return y;
}

/// Of rank 0 to 8; the result has at most 20000 elements.
inline Shapes random_shapes(Random& random) {
  const auto pick = [&random](std::initializer_list<std::int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  const std::size_t rank = random() % 9;
  Shapes shapes;
  std::int64_t room = 20000;
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t extent = pick({1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 64, 65, 257});
    if (extent > room) extent = 1;
    room /= extent;
    const std::uint64_t kind = random() % 4;
    shapes.a.push_back(kind == 0 ? 1 : extent);
    shapes.b.push_back(kind == 1 ? 1 : extent);
  }
  return shapes;
}

/// A plan that streams however little it touches.
inline Plan streaming_plan(ElementType type, const BroadcastPlan& loops, const Target& target) {
  Plan plan = make_plan(Operation::multiply, type, loops, target);
  plan.streamed_from = {};
  plan.cache_bytes = 0;
  plan.tiling = make_tiling(plan.loops, plan.size, Reach::streamed, plan.kernel);
  if (plan.tiling) plan.tiling->is_better_stored = false;
  plan.units = plan.tiling ? plan.tiling->all_tiles : (loops.elements + plan.unit - 1) / plan.unit;
  plan.tasks = std::max<std::int64_t>(2, plan.tasks);  // a single task does not ask whether to stream
  return plan;
}

/// A plan of tiles that are there to be streamed, for a call that streams nothing.
inline Plan storing_plan(ElementType type, const BroadcastPlan& loops, const Target& target) {
  Plan plan = streaming_plan(type, loops, target);
  if (plan.tiling) plan.tiling->is_better_stored = true;
  return plan;
}

}  // namespace binet::kernels::elementwise::testing
