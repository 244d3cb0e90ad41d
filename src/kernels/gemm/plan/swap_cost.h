// Room: kernels. With vectors of half a line: whether Y^T costs less than Y, in cycles as measured on Zen 3. (With
// vectors of a line rules of thumb do, in swap.cc.)
#pragma once

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// A transposed B, which few rows would have turned into panels: Y^T reads it where it lies.
[[nodiscard]] bool costs_less_than_panels_of_b(const Problem& problem, const Kernels& kernels);

/// Both operands are transposed: those of Y^T lie as tiles read them, where Y has B turned, and A read a part of a line
/// for every k. Any type, from five rows and columns on.
[[nodiscard]] bool costs_less_than_turning_both(const Problem& problem, const Kernels& kernels);

/// A transposed A and few columns: their tiles read a part of a line for every k, and leave a part of a vector empty,
/// where rows of Y^T are vectors of A. f32 and f64.
[[nodiscard]] bool costs_less_than_columns_of_a(const Problem& problem, const Kernels& kernels);

/// Whether it may, for many rows: a constant B is kept in rows then.
[[nodiscard]] bool has_few_columns_beside_columns_of_a(const Problem& problem, const Kernels& kernels) noexcept;

}  // namespace binet::kernels::gemm
