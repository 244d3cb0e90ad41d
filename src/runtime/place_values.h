// Room: runtime. Where the values in between lie: an output takes the place of an input that dies with it, if the
// kernel can do that; the rest is laid out by lifetimes (arena_layout.h).
#pragma once

#include <span>
#include <vector>

#include "graph/bound_graph.h"

namespace binet {

/// A step as the placing sees it.
struct PlacedStep {
  std::vector<ValueIndex> inputs;  ///< kLeftOut: nothing is read there
  ValueIndex output = 0;
  std::vector<bool> may_overwrite;  ///< for each input
};

struct Placement {
  /// By value: its offset in the arena; kElsewhere where no step makes it, or where it is an output of the graph.
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;

  static constexpr std::size_t kElsewhere = static_cast<std::size_t>(-1);
};

/// `bytes` by value; `outputs` are kept by the caller and get no place.
[[nodiscard]] Placement place_values(const std::vector<PlacedStep>& steps, std::span<const std::size_t> bytes,
                                     std::span<const ValueIndex> outputs);

}  // namespace binet
