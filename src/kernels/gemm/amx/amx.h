// Room: kernels. Matrix products on the matrix registers (kernels.h): which, how they are cut, and how they run.
//
// The bits: of integers all ways give the same. Of bfloat16 the order of additions is the instruction's own
// (bf16-inl.h), for any M, so whether a product takes this way depends on N and K alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

[[nodiscard]] bool takes_amx(const Problem& problem, const Kernels& kernels, bool b_is_packed) noexcept;

/// Completes a plan whose problem, kernels and b_is_packed are set.
void plan_amx(Plan& plan, int threads);

void run_amx(const Plan& plan, const std::byte* a, const std::byte* b, const std::byte* c, std::byte* y,
             std::byte* workspace, const ThreadPool& pool);

}  // namespace binet::kernels::gemm
