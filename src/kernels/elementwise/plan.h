// Room: kernels. One elementwise call with everything decided but the addresses.
//
// make_plan() allocates; run() does not, and costs a few nanoseconds beside the work, so a plan is made once for a pair
// of shapes and used as often as they meet.
//
// Streaming stores. A result that leaves the caches before anybody reads it is written past them: the line that a
// normal store first reads from memory need not be read, a quarter of the traffic of a product of equal shapes. By
// default a call takes what is faster for itself: it streams where what it touches nearly fills the last-level cache,
// and already where it leaves the core's own caches if two operands have the result's size, or one of them and the
// last-level cache is slow. If the caller says that the result is read next, it streams only a result that does not fit
// into the last-level cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/target.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/tiles.h"
#include "tensor/broadcast.h"
#include "threads/thread_pool.h"

namespace binet::kernels::elementwise {

struct Plan {
  BroadcastPlan loops;
  bool swapped = false;  ///< a is the operand that is given as b: operations commute, and kernels want b to stay
  Kernel kernel;
  std::int64_t size = 0;         ///< bytes of an element
  Rows rows;                     ///< the two innermost loops, or three
  std::optional<Tiling> tiling;  ///< where these are too short for the kernel
  std::int64_t unit = 1;         ///< elements of y that no two threads share, where there are no tiles
  std::int64_t units = 0;        ///< such units, or tiles
  std::int64_t tasks = 1;        ///< how many tasks the bytes pay for
  std::int64_t touched_bytes = 0;
  std::int64_t cache_bytes = 0;         ///< of the last level
  std::int64_t streamed_from = 0;       ///< touched bytes from which on one thread streams
  std::int64_t streamed_from_all = 0;   ///< and several, whatever their number
  std::int64_t streamed_from_each = 0;  ///< and several where each of them touches so much
};

/// What happens to the result after the call.
enum class Result { used_later, read_next };

[[nodiscard]] Plan make_plan(Operation operation, ElementType type, BroadcastPlan loops, const Target& target);

/// Whether a call writes y past the caches.
[[nodiscard]] bool streams(const Plan& plan, std::int64_t threads, Result result);

/// Computes y on as many threads of the pool as its size pays for.
void run(const Plan& plan, const std::byte* a, const std::byte* b, std::byte* y, const ThreadPool& pool,
         Result result = Result::used_later);

}  // namespace binet::kernels::elementwise
