// Room: kernels. A small B that is given and whose rows would meet in few sets of the first-level cache, for many rows
// of Y: it is copied, row by row, into the workspace, where its rows lie a line further apart.
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether B may be copied so, if the product can be done at once then.
[[nodiscard]] bool may_spread_rows(const Problem& problem, const Kernels& kernels, int threads);

}  // namespace binet::kernels::gemm
