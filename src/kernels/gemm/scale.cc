#include "kernels/gemm/scale.h"

#include <cmath>

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

}  // namespace binet::kernels::gemm
