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

}  // namespace binet::kernels::gemm
