// Room: runtime. A graph that computes the same bits with fewer nodes: a Gemm followed by a Mul with a constant.
//
//   Y = (alpha A B + beta C) * s        s a scalar, or a row that meets the columns
//
// Integers are exact modulo 2^n, where alpha and beta are whole numbers. So s goes
//  - into alpha and beta, if it is a scalar and the products are whole numbers that f32 holds; else
//  - into B and C, if they are constants: Mul nodes before the Gemm, which are then folded (prepare.h).
//
// Floating-point numbers are rounded before the Mul, and the rounding depends on the size of what is rounded: even a
// power of two changes bits where values become subnormal or infinite. What is left is
//  - s = 1, which changes nothing, and
//  - s = -1 without C: all roundings are symmetric, and alpha takes the sign. With C, x + (-x) is +0 with either sign.
//
// The Gemm's own output must not be seen by anybody else.
#pragma once

#include <optional>

#include "graph/bound_graph.h"

namespace binet {

/// Nothing if there is nothing to rewrite, which is the usual case and costs no copy. Inputs and outputs stay; a value
/// that is no longer made stays too, without a node.
[[nodiscard]] std::optional<BoundGraph> rewrite(const BoundGraph& graph);

}  // namespace binet
