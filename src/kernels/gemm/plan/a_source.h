// Room: kernels. Where a product finds A: packed, widened as it lies, or where it lies.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Rows of A, in whole tiles, that are packed at a time, kc k of each.
[[nodiscard]] std::int64_t rows_of_block(const Kernels& kernels, std::int64_t kc) noexcept;

/// Sets what the schedule says of A, and perhaps a shorter kc; all that it says of B has been decided.
void choose_a_source(const Problem& problem, const Kernels& kernels, Schedule& schedule);

/// Rows of A, read where it lies, that a tile may have: if they meet in the same sets of the first-level cache, no more
/// than those have lines.
[[nodiscard]] std::int64_t most_rows_of_tile(const Problem& problem, const Kernels& kernels) noexcept;

}  // namespace binet::kernels::gemm
