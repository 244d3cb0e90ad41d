// Room: tensor. A shape of which not everything is known before the inputs arrive.
//
// An extent is a number; or unknown; or a symbol, which is unknown too, but the same wherever it stands. The shape
// rules of the operators work on such extents, so one rule serves the check of a model and the run of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "binet/tensor.h"

namespace binet {

/// At least 0: known. kUnknownExtent: anything. Below it: the symbol number symbol_of().
using Extent = std::int64_t;
inline constexpr Extent kUnknownExtent = -1;

[[nodiscard]] constexpr bool is_known(Extent extent) noexcept { return extent >= 0; }
[[nodiscard]] constexpr bool is_symbol(Extent extent) noexcept { return extent < kUnknownExtent; }
[[nodiscard]] constexpr Extent extent_of_symbol(std::size_t symbol) noexcept {
  return kUnknownExtent - 1 - static_cast<Extent>(symbol);
}
[[nodiscard]] constexpr std::size_t symbol_of(Extent extent) noexcept {
  return static_cast<std::size_t>(kUnknownExtent - 1 - extent);
}

/// Extents from outer to inner, or nothing if not even their number is known.
using PartialShape = std::optional<std::vector<Extent>>;

[[nodiscard]] bool is_known(const PartialShape& shape) noexcept;

/// "(2, ?, 3)", "()" for a scalar, "(...)" for an unknown rank.
[[nodiscard]] std::string to_string(const PartialShape& shape);

/// What both `a` and `b` say of one extent; nothing if they contradict each other.
[[nodiscard]] std::optional<Extent> merge(Extent a, Extent b) noexcept;
[[nodiscard]] std::optional<PartialShape> merge(const PartialShape& a, const PartialShape& b);

}  // namespace binet
