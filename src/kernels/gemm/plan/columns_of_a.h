// Room: kernels. A transposed A, of which a line holds a few rows of one k: whether tiles read it where it lies.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether A is transposed and better packed, by its size and that of the part of B that it meets. `schedule`: with all
/// that it says of B.
[[nodiscard]] bool packs_columns_of_a(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

/// How many k of an A that is read where it lies, panel by panel, tiles have at a time: the schedule's, or fewer of a
/// transposed one, whose lines are then there for the next tile, and in L2 for the next panel. (Measured where a vector
/// is half a line.)
[[nodiscard]] std::int64_t k_of_direct_a(const Problem& problem, const Kernels& kernels, const Schedule& schedule);

}  // namespace binet::kernels::gemm
