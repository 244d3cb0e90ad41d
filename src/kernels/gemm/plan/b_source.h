// Room: kernels. Where a product finds B, and in which portions it takes it: packed before, packed on the way, or read
// where it lies.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Sets what the schedule says of B, kc and strip_columns among it; segment_k is given. `block_rows`: of A, as many as
/// are packed at a time.
void choose_b_source(const Problem& problem, const Kernels& kernels, bool b_is_packed, std::int64_t block_rows,
                     Schedule& schedule);

/// Whether 16-bit floats are few enough, and rows many enough, that one thread widens all of B before a product at
/// once.
[[nodiscard]] bool widens_b_at_once(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

/// So many of an item's columns are multiplied before the next ones, with B read where it lies or packed before: all,
/// or, with a short k, as many as stay in the second-level cache.
[[nodiscard]] std::int64_t columns_together(const Kernels& kernels, const Schedule& schedule, std::int64_t columns);

/// Whether Y takes a good part of the second-level cache, or leaves it, and `columns` of B in kc rows stay there. Then
/// Y is written rows by rows: a cache that takes the lines of a few columns at a time holds up the loads of B.
[[nodiscard]] bool goes_by_rows(const Problem& problem, const Kernels& kernels, const Schedule& schedule,
                                std::int64_t columns);

}  // namespace binet::kernels::gemm
