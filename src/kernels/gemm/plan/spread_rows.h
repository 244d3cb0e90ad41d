// Room: kernels. A small B that is given, for many rows of Y: its rows are copied into the workspace, if they would
// meet in few sets of the first-level cache, or if so many of them begin off lines that a strip touches more lines than
// that cache has.
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether B may be copied so, if the product then reads it where it lies.
[[nodiscard]] bool may_spread_rows(const Problem& problem, const Kernels& kernels, int threads);

/// Whether a B whose rows are whole lines may be copied so, if it turns out to begin off a line.
[[nodiscard]] bool may_copy_b_off_lines(const Problem& problem, const Kernels& kernels, int threads);

}  // namespace binet::kernels::gemm
