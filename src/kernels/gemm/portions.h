// Room: kernels. The arithmetic of cutting.
#pragma once

#include <cstdint>

namespace binet::kernels::gemm {

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

/// `a`, or the next multiple of b.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) noexcept { return ceil_div(a, b) * b; }

/// The part of `total` in each of the fewest equal parts that are at most `limit`, rounded up to `unit`.
[[nodiscard]] constexpr std::int64_t equal_part(std::int64_t total, std::int64_t limit, std::int64_t unit) noexcept {
  return round_up(ceil_div(total, ceil_div(total, limit)), unit);
}

}  // namespace binet::kernels::gemm
