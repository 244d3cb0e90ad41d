// Room: runtime. Where intermediate values lie in one block of memory: values that live at different times share their
// place.
#pragma once

#include <cstddef>
#include <vector>

namespace binet {

/// A value that is written at step `first` and read for the last time at step `last`.
struct Lifetime {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t bytes = 0;
};

struct ArenaLayout {
  std::vector<std::size_t> offsets;  ///< one for each lifetime, a multiple of the cache line
  std::size_t bytes = 0;
};

/// Places the largest values first, each at the lowest offset that no value of an overlapping lifetime covers.
[[nodiscard]] ArenaLayout lay_out(const std::vector<Lifetime>& lifetimes);

}  // namespace binet
