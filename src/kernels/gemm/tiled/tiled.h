// Room: kernels. Matrix products in tiles (kernels.h): which, how they are cut, and how they run.
//
// The bits: of integers all ways give the same, and so does bfloat16 on vectors. On the matrix registers its order of
// additions is the instruction's own (amx_bf16-inl.h), for any M, so there N and K alone decide whether a product takes
// this way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

[[nodiscard]] bool takes_tiled(const Problem& problem, const Kernels& kernels, bool b_is_packed) noexcept;

/// Completes a plan whose problem, kernels and b_is_packed are set.
void plan_tiled(Plan& plan, int threads);

void run_tiled(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
               std::byte* workspace, const ThreadPool& pool);

}  // namespace binet::kernels::gemm
