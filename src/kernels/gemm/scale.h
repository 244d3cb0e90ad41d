// Room: kernels. The factors of y = alpha * sum + beta * c, and the rule for integers with a fractional one, which the
// reference and the kernels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/gemm/gemm.h"

namespace binet::kernels::gemm {

struct Scale {
  float alpha = 1.0f, beta = 0.0f;
  bool has_c = false;  ///< false too where beta is 0
  bool is_signed = false;
  bool is_whole = true;  ///< integers: both factors are whole, so their bits modulo 2^64 do
  std::uint64_t alpha_bits = 1, beta_bits = 0;

  /// y is the sum as it stands.
  [[nodiscard]] bool keeps_sums() const noexcept { return alpha == 1.0f && !has_c; }
};

/// Whether y is neither the sum as it stands nor that plus C.
[[nodiscard]] inline bool has_factors(const Problem& p) noexcept {
  return p.alpha != 1.0f || (p.has_c && p.beta != 0.0f && p.beta != 1.0f);
}

/// The same product without its last step.
[[nodiscard]] inline Problem sums_alone(const Problem& p) noexcept {
  Problem sums = p;
  sums.alpha = 1.0f;
  sums.has_c = false;
  return sums;
}

/// Whether c has an element for each row.
[[nodiscard]] inline bool adds_column(const Problem& p) noexcept {
  return p.has_c && p.beta != 0.0f && p.c_column_step == 0 && p.c_row_step != 0;
}

/// Whether c has an element for each of y.
[[nodiscard]] inline bool adds_full_c(const Problem& p) noexcept {
  return p.has_c && p.beta != 0.0f && p.c_row_step != 0 && p.c_column_step != 0;
}

/// Whether the last step is the same for all rows of y, which touch, as for one: C is like y, a single element, or
/// none.
[[nodiscard]] inline bool ends_as_one_run(const Problem& p) noexcept {
  const bool c_is_one = p.c_row_step == 0 && p.c_column_step == 0;
  const bool c_is_like_y = p.c_row_step == p.y_row_step && p.c_column_step == 1;
  return p.y_row_step == p.n && (!p.has_c || p.beta == 0.0f || c_is_one || c_is_like_y);
}

/// Without any k the sum is 0, whatever alpha is.
[[nodiscard]] Scale make_scale(const Problem& problem) noexcept;

/// `value` cut towards zero; the nearest number of the type where it has none for it, and 0 for NaN.
template <class T>
[[nodiscard]] inline T cut(double value) noexcept {
  // 2^n and -2^(n-1) are exact in f64, the largest number of a 64-bit type is not.
  constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
  constexpr double kBegin = static_cast<double>(std::numeric_limits<T>::min());
  if (value >= kEnd) return std::numeric_limits<T>::max();
  if (value > kBegin) return static_cast<T>(value);
  return value <= kBegin ? std::numeric_limits<T>::min() : T{0};
}

/// The wrapped sum, as a number of type T, times alpha, plus beta * c, in f64, cut. `sum` and `c` are bits of T.
template <class T>
[[nodiscard]] inline std::make_unsigned_t<T> fractional_result(std::make_unsigned_t<T> sum, std::make_unsigned_t<T> c,
                                                               const Scale& scale) noexcept {
  double value = static_cast<double>(static_cast<T>(sum)) * static_cast<double>(scale.alpha);
  if (scale.has_c) value += static_cast<double>(scale.beta) * static_cast<double>(static_cast<T>(c));
  return static_cast<std::make_unsigned_t<T>>(cut<T>(value));
}

/// The last step for one row of integers with a fractional factor, for uint32_t and uint64_t, one at a time: for what
/// fills no vector (fractional_row-inl.h). Elements of Y lie side by side; C may be null.
template <class T>
void finish_fractional_row(const T* sums, std::size_t n, T* y, const T* c, std::int64_t c_step,
                           const Scale& scale) noexcept;

}  // namespace binet::kernels::gemm
