// Room: kernels. What tiles, mostly those of few rows, fetch of a B ahead of its use: of one from memory, and of a
// packed one that a part of the last-level cache does not hold. Measured on Zen 5, whose prefetchers have one run of
// memory, or a few, in time, but not if a tile's multiply-adds leave them little to go by.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Bytes from each line of a packed B to the one that tiles fetch with it; 0 if they leave that to hardware.
[[nodiscard]] std::int64_t bytes_ahead_in_packed_b(const Problem& problem, const Kernels& kernels);

/// Whether lines of a B that is turned are fetched: hardware does not follow as many rows as a vector has lanes. One
/// group of columns at a time: two have more rows than the first-level cache has room for.
[[nodiscard]] bool fetches_lines_of_turned_b(const Problem& problem, const Kernels& kernels);

/// Whether rows of A that touch are fetched for their dot products with one column: of short ones much is loaded under
/// masks, and what is loaded so no hardware prefetcher of Zen 5 follows. (Nor of a B that is turned and has fewer k
/// than a vector has lanes.)
[[nodiscard]] bool fetches_rows_of_dots(const Problem& problem, const Kernels& kernels);

/// Whether those are that more rows of Y than few_rows-inl.h computes at a time will read next: else nothing is on its
/// way while all but the first of them read what is near.
[[nodiscard]] bool fetches_lines_of_few_rows(const Problem& problem, const Kernels& kernels);

/// Whether tiles of so many rows fetch what they will read of a B where it lies better than the way above does: its
/// rows may not meet in few sets of the caches, as what is fetched would leave those before its turn.
[[nodiscard]] bool fetches_lines_of_tiles(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
