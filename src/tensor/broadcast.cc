#include "tensor/broadcast.h"

#include <algorithm>

namespace binet {
namespace {

/// The step of an operand at each place of its shape: the product of the extents further in, 0 where it is repeated.
std::vector<std::int64_t> steps_of(Extents shape) {
  std::vector<std::int64_t> steps(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    steps[i] = shape[i] == 1 ? 0 : step;
    step *= shape[i];
  }
  return steps;
}

/// Whether the loop `outer`, directly around `inner`, continues where `inner` ends, for both operands.
bool continues(const BroadcastLoop& outer, const BroadcastLoop& inner) {
  return outer.a_step == inner.a_step * inner.extent && outer.b_step == inner.b_step * inner.extent;
}

}  // namespace

BroadcastPlan plan_broadcast(Extents a, Extents b) {
  BroadcastPlan plan;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0 || b[i] == 0) {
      plan.elements = 0;
      return plan;
    }
  }
  const std::vector<std::int64_t> a_steps = steps_of(a);
  const std::vector<std::int64_t> b_steps = steps_of(b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const BroadcastLoop loop{std::max(a[i], b[i]), a_steps[i], b_steps[i]};
    if (loop.extent == 1) continue;
    plan.elements *= loop.extent;
    if (!plan.loops.empty() && continues(plan.loops.back(), loop)) {
      plan.loops.back() = {plan.loops.back().extent * loop.extent, loop.a_step, loop.b_step};
    } else {
      plan.loops.push_back(loop);
    }
  }
  return plan;
}

Shape pad_left(Extents shape, std::size_t rank) { return place_at(shape, rank - shape.size(), rank); }

Shape place_at(Extents shape, std::size_t axis, std::size_t rank) {
  Shape placed(rank, 1);
  std::copy(shape.begin(), shape.end(), placed.begin() + static_cast<std::ptrdiff_t>(axis));
  return placed;
}

}  // namespace binet
