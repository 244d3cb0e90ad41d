// Room: kernels. Few rows of Y and a transposed B that is not packed: squares of B are turned in registers and
// multiplied at once (turned_squares-inl.h). From how many rows on is it better to pack B, or to swap the operands?
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether the rows are so few. Packing stores what is used once or a few times, and less than a vector of columns is
/// packed slowly. The rows are those of one panel, if A is packed.
[[nodiscard]] bool should_turn_b(const Problem& problem, const Kernels& kernels);

/// Whether that is so quick that it is also better than to turn B into rows, or to swap the operands.
[[nodiscard]] bool turns_quickly(const Problem& problem, const Kernels& kernels);

/// Whether two vectors of columns, each as long as a cache line, take turns: a chain of multiply-adds by itself waits
/// for its latency. So many rows of B, on so many pages, want hardware prefetchers that follow them in a near cache,
/// and may not share too few sets of the first-level cache. (As many shorter vectors as a line has always take turns,
/// unless they share such sets.)
[[nodiscard]] bool turns_two_groups(const Problem& problem, const Kernels& kernels);

/// Whether two vectors of half a line whose rows of B share such sets are at different k (staggered_squares-inl.h).
[[nodiscard]] bool staggers_groups(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
