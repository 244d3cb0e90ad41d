#include "kernels/elementwise/streaming.h"

#include <algorithm>

#include "base/cache_size.h"

namespace binet::kernels::elementwise {
namespace {

bool are_equal(const BroadcastPlan& plan) {
  return plan.loops.size() == 1 && plan.loops[0].a_step == plan.loops[0].b_step;
}

/// Hardly anything to do but write: the last-level cache takes a result faster than memory for as long as it has room.
bool only_writes(const BroadcastPlan& plan, std::int64_t operand_elements) {
  return operand_elements * 4 < plan.elements;
}

/// The largest part of an operand that an outer loop reads again and again while y moves on.
std::int64_t elements_read_again(const BroadcastPlan& plan) {
  std::int64_t most = 0;
  for (const auto step : {&BroadcastLoop::a_step, &BroadcastLoop::b_step}) {
    std::int64_t inside = 1;
    for (std::size_t k = plan.loops.size(); k-- > 0;) {
      if (plan.loops[k].*step == 0) {
        most = std::max(most, inside);
      } else {
        inside *= plan.loops[k].extent;
      }
    }
  }
  return most;
}

/// More than a core has to itself.
std::int64_t beyond_a_core() { return second_level_cache_bytes() / 4 * 5; }

/// One thread gains from streaming before the last-level cache is full: with three streams of equal size the cache
/// gives less than memory takes, or no more from a part of it on, with two it does not, unless it is slow. A slow one
/// that is only written to is still faster than memory, by a quarter where its lines are fetched beforehand; so is a
/// fast one if the first-level cache has what is read meanwhile, and one that is left early for a little longer. With a
/// fast memory both come sooner: on Zen 5 it takes 0.7 to 1.2 of the time from there on, in the mean 0.9.
std::int64_t by_one(const BroadcastPlan& plan, std::int64_t element_bytes, std::int64_t operand_elements) {
  constexpr std::int64_t kFirstLevelBytes = 32 * 1024;
  const std::int64_t cache_bytes = last_level_cache_bytes();
  if (are_equal(plan)) return memory_takes_streams_fast() ? beyond_a_core() : far_from(cache_bytes);
  if (last_level_cache_is_slow()) {
    return operand_elements >= plan.elements ? beyond_a_core() : cache_bytes / 16 * 11;
  }
  const bool reads_near = elements_read_again(plan) * element_bytes <= kFirstLevelBytes;
  const bool hardly_reads = only_writes(plan, operand_elements) && reads_near;
  if (last_level_cache_is_left_early()) return cache_bytes / 16 * (hardly_reads ? 7 : 6);
  if (memory_takes_streams_fast()) return cache_bytes / 16 * (hardly_reads ? 13 : 9);
  return hardly_reads ? cache_bytes : cache_bytes / 16 * 11;
}

/// Several threads have their cores' own caches besides, and the last-level cache gives them more than memory takes
/// even where it has lost a part: of three streams none, of two an eighth, of hardly anything but a result three.
std::int64_t by_all(const BroadcastPlan& plan, std::int64_t operand_elements) {
  const std::int64_t cache_bytes = last_level_cache_bytes();
  if (last_level_cache_is_slow() || operand_elements >= 2 * plan.elements) return cache_bytes;
  return cache_bytes / 8 * (only_writes(plan, operand_elements) ? 11 : 9);
}

/// A cache that is left early is left by two when it is fuller. Two cores' streams of equal shapes are no more than a
/// fast memory takes.
std::int64_t by_two(const BroadcastPlan& plan, std::int64_t one, std::int64_t all) {
  if (last_level_cache_is_left_early()) return last_level_cache_bytes() / 16 * 10;
  const bool are_like_one = last_level_cache_is_slow() || (are_equal(plan) && memory_takes_streams_fast());
  return are_like_one ? std::min(2 * one, all) : all;
}

}  // namespace

std::int64_t far_from(std::int64_t cache_bytes) { return cache_bytes / 32 * 11; }

StreamedFrom find_streamed_from(const BroadcastPlan& plan, std::int64_t element_bytes, std::int64_t operand_elements) {
  StreamedFrom from;
  from.one = by_one(plan, element_bytes, operand_elements);
  from.all = by_all(plan, operand_elements);
  from.each = last_level_cache_is_slow() ? from.one : from.all;
  from.two = by_two(plan, from.one, from.all);
  return from;
}

}  // namespace binet::kernels::elementwise
