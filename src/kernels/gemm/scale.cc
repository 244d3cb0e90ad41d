#include "kernels/gemm/scale.h"

#include <cmath>
#include <cstring>

namespace binet::kernels::gemm {
namespace {

[[nodiscard]] bool is_whole(float factor) noexcept { return std::isfinite(factor) && std::trunc(factor) == factor; }

/// A whole number modulo 2^64.
[[nodiscard]] std::uint64_t wrapped(float whole) noexcept {
  if (std::fabs(whole) < 0x1p63f) return static_cast<std::uint64_t>(static_cast<std::int64_t>(whole));
  // From 2^63 on it is a 24-bit number times a power of two; as a remainder it fits.
  const auto magnitude = static_cast<std::uint64_t>(std::fmod(std::fabs(static_cast<double>(whole)), 0x1p64));
  return whole < 0 ? std::uint64_t{0} - magnitude : magnitude;
}

[[nodiscard]] bool is_signed_integer(ElementType type) noexcept {
  return type == ElementType::i32 || type == ElementType::i64;
}

}  // namespace

Scale make_scale(const Problem& problem) noexcept {
  Scale scale;
  scale.has_c = problem.has_c && problem.beta != 0.0f;
  if (problem.k > 0) scale.alpha = problem.alpha;
  if (scale.has_c) scale.beta = problem.beta;
  if (is_integer(problem.type)) {
    scale.is_signed = is_signed_integer(problem.type);
    scale.is_whole = is_whole(scale.alpha) && is_whole(scale.beta);
    if (scale.is_whole) {
      scale.alpha_bits = wrapped(scale.alpha);
      scale.beta_bits = wrapped(scale.beta);
    }
  }
  return scale;
}

template <class T>
void finish_fractional_row(const T* sums, std::size_t n, T* y, const T* c, std::int64_t c_step,
                           const Scale& scale) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const auto place = static_cast<std::int64_t>(i);
    T sum = 0, old = 0;  // copies, as C may lie anywhere
    std::memcpy(&sum, sums + i, sizeof(T));
    if (c != nullptr) std::memcpy(&old, c + place * c_step, sizeof(T));
    const T value = scale.is_signed ? fractional_result<std::make_signed_t<T>>(sum, old, scale)
                                    : fractional_result<T>(sum, old, scale);
    std::memcpy(y + i, &value, sizeof(T));
  }
}

template void finish_fractional_row(const std::uint32_t*, std::size_t, std::uint32_t*, const std::uint32_t*,
                                    std::int64_t, const Scale&) noexcept;
template void finish_fractional_row(const std::uint64_t*, std::size_t, std::uint64_t*, const std::uint64_t*,
                                    std::int64_t, const Scale&) noexcept;

}  // namespace binet::kernels::gemm
