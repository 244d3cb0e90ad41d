// Room: tensor. From two shapes to nested loops: the broadcast plan.
//
// Every broadcasting rule of the standards ends here. A rule first writes both shapes with the same rank (numpy pads on
// the left with 1; a legacy axis or pdpd writes B at its place, 1 elsewhere). Then plan_broadcast gives a repeated
// extent the step 0, drops extents of 1, and merges neighbouring loops that both operands step through as one. What is
// left is what a kernel walks: the result is contiguous in the order of the loops.
//
//   A (2,3,4,5), B (5)       ->  (24, 5, 0) (5, 1, 1)          B is repeated 24 times
//   A (1,4,5), B (2,3,1,1)   ->  (6, 0, 1) (20, 1, 0)          each element of B meets all of A
//
// Not here: the loops themselves (kernels/elementwise).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "binet/tensor.h"
#include "tensor/shape.h"

namespace binet {

/// One loop: how often, and how far A and B move at each turn, in elements. A step of 0 repeats.
struct BroadcastLoop {
  std::int64_t extent = 1;
  std::int64_t a_step = 0;
  std::int64_t b_step = 0;

  friend bool operator==(const BroadcastLoop&, const BroadcastLoop&) = default;
};

/// Loops from outer to inner. None of them: one element. The innermost steps are 0 or 1, at least one of them 1.
struct BroadcastPlan {
  std::vector<BroadcastLoop> loops;
  std::int64_t elements = 1;  ///< of the result; 0: nothing to do
};

/// Plans A op B for two shapes of the same rank in which, at each place, the extents are equal or one of them is 1.
[[nodiscard]] BroadcastPlan plan_broadcast(Extents a, Extents b);

/// `shape` with ones before it, up to `rank` extents in all.
[[nodiscard]] Shape pad_left(Extents shape, std::size_t rank);

/// `shape` with its first extent at place `axis` of a shape of `rank` extents, ones elsewhere.
/// Requires axis + shape.size() <= rank.
[[nodiscard]] Shape place_at(Extents shape, std::size_t axis, std::size_t rank);

}  // namespace binet
