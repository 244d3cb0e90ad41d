// Room: kernels. A small transposed B that is turned as a whole, into rows in the workspace, for a product that is then
// done at once, or by tiles as wide as those rows.
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Whether B may be turned, if the product can be done so then. Fewer rows turn it while they multiply
/// (turned_b.h).
[[nodiscard]] bool may_turn_rows(const Problem& problem, const Kernels& kernels);

/// The product with B in rows of whole vectors. As they are written, a vector of each at a time, rows that are a power
/// of two apart would meet in a few sets of the first-level cache: they are a line further apart.
[[nodiscard]] Problem with_turned_rows(const Problem& problem, const Kernels& kernels);

}  // namespace binet::kernels::gemm
