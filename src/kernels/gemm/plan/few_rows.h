// Room: kernels. Few rows of Y, and a B so large that its bytes take the time: it is read where it lies, in the order
// of memory, while sums wait in the first-level cache (few_rows-inl.h).
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

// Rows of B at a time: memory gives a third more to several streams than to one, and a sum is loaded and stored for as
// many multiply-adds. On AMD's CPUs one row of f32 or f64 may have more.
constexpr std::int64_t kRowsOfB = 8;
constexpr std::int64_t kManyRowsOfB = 2 * kRowsOfB;

/// Whether B comes from so far that this way is better than tiles. Its columns lie side by side.
[[nodiscard]] bool takes_few_rows(const Problem& problem, const Kernels& kernels);

/// Whether half of the rows do, and then the others, which is better than to pack B.
[[nodiscard]] bool reads_b_twice(const Problem& problem, const Kernels& kernels, std::int64_t workers);

/// So many rows of B meet all columns, of which each worker has some, before the next ones do: 1, kRowsOfB, or
/// kManyRowsOfB.
[[nodiscard]] std::int64_t rows_of_b(const Problem& problem, const Kernels& kernels, std::int64_t workers);

}  // namespace binet::kernels::gemm
