// Room: kernels. When whole rows of tiles, over a packed B, are the best way for a short K.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

struct Kernels;

/// Vectors of half a line: a row of tiles takes one call (block_loops-inl.h), and reads a packed B as one run. Where B
/// lies, its rows, or those of Y, may meet in few sets of a cache, or be more streams than hardware follows.
[[nodiscard]] bool gains_by_rows_of_tiles(const Problem& p, const Kernels& kernels, std::int64_t workers);

}  // namespace binet::kernels::gemm
