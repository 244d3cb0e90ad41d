// Room: kernels. Products of which the last columns are computed apart.
//
// One column more than whole vectors, or two or three, cost as much as a vector, or two where tiles are two wide: 33
// columns half as much again as 32. As dot products (dots.h) they cost what they are.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// How many columns: mostly 0. The type, N, K and the layout of A decide, and neither M, the target, nor who packs B:
/// another order of additions has other bits.
[[nodiscard]] std::int64_t last_columns_apart(const Problem& problem) noexcept;

/// The product of `count` neighbouring columns.
[[nodiscard]] Problem with_columns(const Problem& problem, std::int64_t count) noexcept;

/// Plans both parts, for as many rows as stay near from one to the other.
void plan_parts(Plan& plan, const Target& target, int threads);

/// packed_b_bytes() and pack_b() of both, one behind the other.
[[nodiscard]] std::size_t packed_parts_bytes(const Problem& problem, const Target& target);
void pack_parts(const Problem& problem, const Target& target, const std::byte* b, std::byte* packed,
                const ThreadPool& pool);

}  // namespace binet::kernels::gemm
