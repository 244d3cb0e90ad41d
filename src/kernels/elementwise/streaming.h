// Room: kernels. From which size on a result is written past the caches.
//
// Streaming stores. A result that leaves the caches before anybody reads it is written past them: the line that a
// normal store first reads from memory need not be read, a quarter of the traffic of a product of equal shapes. By
// default a call takes what is faster for itself: it streams where what it touches nearly fills the last-level cache,
// or half of one that is left early, and already where it leaves the core's own caches if two operands have the
// result's size, or one of them and the last-level cache is slow. What is faster in one core and in two was measured;
// more cores than that share what memory takes, while each brings its own caches and its own way to the last level.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/broadcast.h"

namespace binet::kernels::elementwise {

/// Bytes that a call touches: operands, repeated elements counted once, and result.
struct StreamedFrom {
  std::int64_t one = 0;   ///< streamed from here on by one thread
  std::int64_t two = 0;   ///< and by two
  std::int64_t each = 0;  ///< by more, where each of them touches so much
  std::int64_t all = 0;   ///< and by any number, where all of them do

  [[nodiscard]] std::int64_t by(std::int64_t threads) const {
    return threads == 1 ? one : threads == 2 ? two : std::min(threads * each, all);
  }
};

/// From here on the last-level cache, of which others use a part, has not all that a call touches.
[[nodiscard]] std::int64_t far_from(std::int64_t cache_bytes);

/// `operand_elements`: of both operands, repeated ones counted once.
[[nodiscard]] StreamedFrom find_streamed_from(const BroadcastPlan& plan, std::int64_t element_bytes,
                                              std::int64_t operand_elements);

}  // namespace binet::kernels::elementwise
