// Room: kernels. What tiles fetch of a B that they read where it lies.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Elements from the end of what a tile reads of a row of B, which is not packed, to what it fetches with that row.
/// `schedule`: with all that it says of B.
[[nodiscard]] std::int64_t near_b(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

}  // namespace binet::kernels::gemm
