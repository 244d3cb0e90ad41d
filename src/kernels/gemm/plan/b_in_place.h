// Room: kernels. When a B whose columns lie side by side is better read where it lies than packed.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Bytes between rows of B as the sets of a cache see them. Rows of short vectors that nearly meet do so for as many k
/// as tiles have in flight.
[[nodiscard]] std::int64_t bytes_between_rows(const Problem& problem, const Kernels& kernels);

/// Whether rows are so few, or B so small and near, that packing B would take longer than it saves. `kernels`: that do
/// not need B packed.
[[nodiscard]] bool suits_in_place(const Problem& problem, const Kernels& kernels);

/// Whether B, if it is read in place, comes from beyond L2 more than once, or too late for tiles that have all of k at
/// once: then a few of its rows meet all columns before the next ones do.
[[nodiscard]] bool is_b_far(const Problem& problem, const Kernels& kernels);

/// Whether a line in which two tiles meet, as rows of B begin off lines, would have left the first-level cache between
/// them, and its page the TLB, if they had all of k: with few rows, which do little with what they load, and a B in L2.
/// Sums are then passed over for each range of so many k. (Measured with vectors of half a line.)
[[nodiscard]] bool shares_lines_of_b(const Problem& problem, const Kernels& kernels);
[[nodiscard]] std::int64_t rows_of_shared_lines(const Problem& problem, const Kernels& kernels);

/// So many rows of a far B meet all columns at a time. Where vectors are as long as lines, they stay in L2 while the
/// next panel comes, and for the tiles below the first.
[[nodiscard]] std::int64_t rows_of_far_b(const Problem& problem, const Kernels& kernels);

/// So many rows of another B meet more than a few tiles of rows before the next ones do: not all of kc, as they would
/// come from further off for each of the tiles.
[[nodiscard]] std::int64_t rows_of_near_b(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
