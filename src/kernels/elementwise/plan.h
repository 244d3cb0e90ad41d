// Room: kernels. One elementwise call with everything decided but the addresses.
//
// make_plan() allocates; run() does not, and costs a few nanoseconds beside the work, so a plan is made once for a pair
// of shapes and used as often as they meet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/target.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/streaming.h"
#include "kernels/elementwise/tiling.h"
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
  std::int64_t cache_bytes = 0;  ///< of the last level
  StreamedFrom streamed_from;
};

/// What happens to the result after the call.
enum class Result { used_later, read_next };

[[nodiscard]] Plan make_plan(Operation operation, ElementType type, BroadcastPlan loops, const Target& target);

/// Whether a call writes y past the caches. By default where that is faster for the call itself (streaming.h); if the
/// result is read next, only where it does not fit into the last-level cache.
[[nodiscard]] bool streams(const Plan& plan, std::int64_t threads, Result result);

/// Computes y on as many threads of the pool as its size pays for.
void run(const Plan& plan, const std::byte* a, const std::byte* b, std::byte* y, const ThreadPool& pool,
         Result result = Result::used_later);

}  // namespace binet::kernels::elementwise
