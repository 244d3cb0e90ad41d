// Room: kernels. Rows in memory are read before they are used, for hardware prefetchers to follow.
//
// A tile reads and writes many rows side by side, some lines of each: prefetchers do not take that up where rows come
// from afar, and what instructions fetch does not reach them. Loads in the order of memory do. Measured on Zen 3.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// A byte of each line of `rows` rows of so many bytes, row_step bytes apart.
void read_lines(const std::byte* row, std::int64_t rows, std::int64_t row_step, std::int64_t row_bytes) noexcept;

/// The same of so many rows of the operand A, elements of so many bytes, whichever way it lies.
void read_rows_of_a(const Problem& problem, const std::byte* a, std::int64_t rows, std::int64_t element_bytes) noexcept;

}  // namespace binet::kernels::gemm
