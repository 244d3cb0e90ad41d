// Room: kernels. Which products keep B in registers (short_k-inl.h).
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Columns go by panels of so many vectors, whose B registers hold, or two, or one; two with any k.
[[nodiscard]] constexpr std::int64_t most_vectors_of_short_k(std::int64_t k) noexcept {
  return k <= 6 ? 4 : k <= 8 ? 3 : 2;
}

/// Whether so many columns are a single panel.
[[nodiscard]] constexpr bool is_one_panel_of_short_k(std::int64_t n, std::int64_t most_vectors,
                                                     std::int64_t lanes) noexcept {
  return n <= 2 * lanes || (n > (most_vectors - 1) * lanes && n <= most_vectors * lanes);
}

/// Where that is faster than tiles.
[[nodiscard]] bool keeps_b_in_registers(const Problem& problem, const Kernels& kernels);

/// Whether several threads have some columns each, of rows that are long beside their number. Where they had some rows,
/// hardware would prefetch Y, panel by panel, below those of one thread among those of the next.
[[nodiscard]] bool shares_columns(const Problem& problem, const Kernels& kernels);

/// Whether the last vector of each row, of several, is stored under a mask; else that is only where it would reach
/// beyond all rows.
[[nodiscard]] bool ends_by_masks(const Problem& problem, const Kernels& kernels);

/// Whether sums of a vector of columns keep a widened B in registers for as many k as there are registers for; else for
/// as many as those of more columns do.
[[nodiscard]] bool sums_keep_longer_b();

}  // namespace binet::kernels::gemm
