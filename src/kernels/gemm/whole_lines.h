// Room: kernels. Which products with a short K write Y in whole cache lines (whole_lines-inl.h), and how they are cut.
#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

/// Where that is faster than tiles: enough rows, long ones, of a Y that stays near.
[[nodiscard]] bool writes_whole_lines(const Problem& problem, const Kernels& kernels);

/// The rows of each item but the last one, which has kRowsOfWholeLines at least, too.
[[nodiscard]] std::int64_t rows_in_whole_lines(std::int64_t m, std::int64_t items) noexcept;

}  // namespace binet::kernels::gemm
