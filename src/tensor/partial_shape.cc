#include "tensor/partial_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace binet {

bool is_known(const PartialShape& shape) noexcept {
  return shape && std::all_of(shape->begin(), shape->end(), [](Extent extent) { return is_known(extent); });
}

std::string to_string(const PartialShape& shape) {
  if (!shape) return "(...)";
  std::string text = "(";
  for (const Extent extent : *shape) {
    if (text.size() > 1) text += ", ";
    text += is_known(extent) ? fmt::format("{}", extent) : "?";
  }
  return text + ")";
}

std::optional<Extent> merge(Extent a, Extent b) noexcept {
  if (is_known(a) && is_known(b)) return a == b ? std::optional(a) : std::nullopt;
  if (is_known(a)) return a;
  if (is_known(b)) return b;
  return is_symbol(a) ? a : b;
}

std::optional<PartialShape> merge(const PartialShape& a, const PartialShape& b) {
  if (!a || !b) return a ? a : b;
  if (a->size() != b->size()) return std::nullopt;
  std::vector<Extent> merged(a->size());
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const auto extent = merge((*a)[i], (*b)[i]);
    if (!extent) return std::nullopt;
    merged[i] = *extent;
  }
  return merged;
}

}  // namespace binet
