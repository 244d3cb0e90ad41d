#include "runtime/arena_layout.h"

#include <algorithm>
#include <numeric>

#include "base/aligned_buffer.h"

namespace binet {
namespace {

struct Placed {
  std::size_t begin;
  std::size_t end;
};

/// The lowest offset where `size` bytes fit between ranges sorted by their beginning.
std::size_t lowest_gap(const std::vector<Placed>& taken, std::size_t size) {
  std::size_t offset = 0;
  for (const Placed& range : taken) {
    if (range.begin >= offset + size) break;
    offset = std::max(offset, range.end);
  }
  return offset;
}

}  // namespace

ArenaLayout lay_out(const std::vector<Lifetime>& lifetimes) {
  ArenaLayout layout{std::vector<std::size_t>(lifetimes.size(), 0), 0};
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Lifetime& life = lifetimes[order[i]];
    std::vector<Placed> taken;
    for (std::size_t j = 0; j < i; ++j) {
      const Lifetime& other = lifetimes[order[j]];
      const bool together = other.first <= life.last && life.first <= other.last;
      const std::size_t begin = layout.offsets[order[j]];
      if (together) taken.push_back({begin, begin + round_up_to_cache_line(other.bytes)});
    }
    std::sort(taken.begin(), taken.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    const std::size_t size = round_up_to_cache_line(life.bytes);
    layout.offsets[order[i]] = lowest_gap(taken, size);
    layout.bytes = std::max(layout.bytes, layout.offsets[order[i]] + size);
  }
  return layout;
}

}  // namespace binet
