// Room: kernels. The arithmetic of cutting, and the sizes of caches that are the same on every CPU.
#pragma once

#include <cstdint>

namespace binet::kernels::gemm {

inline constexpr std::int64_t kLineBytes = 64;
inline constexpr std::int64_t kPageBytes = 4096;
/// Rows so far apart, or any multiple of it, meet in the same lines of the caches.
inline constexpr std::int64_t kAliasBytes = kPageBytes;
/// Lines of one set of the first-level cache, of most CPUs.
inline constexpr std::int64_t kLinesOfSet = 8;

/// Whether `bytes` are a multiple of `of`, but not 0, or up to `little` more or less.
[[nodiscard]] constexpr bool is_nearly_multiple(std::int64_t bytes, std::int64_t of, std::int64_t little) noexcept {
  return bytes >= of - little && (bytes + little) % of <= 2 * little;
}

/// Whether rows so far apart meet in one set for so long that more of them than it has lines drive each other out: they
/// may be a little more or less than a multiple of kAliasBytes apart.
[[nodiscard]] constexpr bool many_rows_meet(std::int64_t bytes_apart) noexcept {
  return is_nearly_multiple(bytes_apart, kAliasBytes, kLineBytes / 4);
}

/// Bytes between rows as the sets of a cache see them: what is nearly a multiple of half of kAliasBytes is that
/// multiple.
[[nodiscard]] constexpr std::int64_t as_sets_see(std::int64_t bytes_apart, std::int64_t little) noexcept {
  constexpr std::int64_t kHalf = kAliasBytes / 2;
  return is_nearly_multiple(bytes_apart, kHalf, little) ? (bytes_apart + little) / kHalf * kHalf : bytes_apart;
}

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return (a + b - 1) / b; }

/// `a`, or the next multiple of b.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) noexcept { return ceil_div(a, b) * b; }

/// The part of `total` in each of the fewest equal parts that are at most `limit`, rounded up to `unit`.
[[nodiscard]] constexpr std::int64_t equal_part(std::int64_t total, std::int64_t limit, std::int64_t unit) noexcept {
  return round_up(ceil_div(total, ceil_div(total, limit)), unit);
}

}  // namespace binet::kernels::gemm
