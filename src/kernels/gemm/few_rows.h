// Room: kernels. Few rows of Y, and a B so large that its bytes take the time: it is read where it lies, in the order
// of memory, while sums wait in the first-level cache (few_rows-inl.h).
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether B comes from so far that this way is better than tiles. Its columns lie side by side.
[[nodiscard]] bool takes_few_rows(const Problem& problem, const Kernels& kernels);

/// So many rows of B meet all columns before the next ones do.
[[nodiscard]] std::int64_t rows_of_b(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
