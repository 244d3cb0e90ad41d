// Room: kernels. The arithmetic of cutting, and the sizes of caches that are the same on every CPU.
#pragma once

#include <cstdint>

namespace binet::kernels::gemm {

inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kPageBytes = 4096;
/// Rows so far apart, or any multiple of it, meet in the same lines of the caches.
inline constexpr std::int64_t kAliasBytes = kPageBytes;

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

/// `a`, or the next multiple of b.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) noexcept { return ceil_div(a, b) * b; }

/// The part of `total` in each of the fewest equal parts that are at most `limit`, rounded up to `unit`.
[[nodiscard]] constexpr std::int64_t equal_part(std::int64_t total, std::int64_t limit, std::int64_t unit) noexcept {
  return round_up(ceil_div(total, ceil_div(total, limit)), unit);
}

}  // namespace binet::kernels::gemm
