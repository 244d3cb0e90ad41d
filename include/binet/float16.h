// The two 16-bit floating-point types as C++ value types: storage plus exact conversions.
//
// Float16 is IEEE 754 binary16 (5 exponent bits, 10 fraction bits); BFloat16 is the upper half of a binary32.
// Widening is exact. Narrowing rounds once to nearest, ties to even, keeps subnormals, and turns every NaN into a
// quiet NaN. Arithmetic is not here: what a product of these types means is said in docs/numerics.md.
#pragma once

#include <bit>
#include <cstdint>

namespace binet {

struct Float16 {
  std::uint16_t bits = 0;

  /// Rounds `value` to nearest even; overflow gives infinity.
  static constexpr Float16 from_double(double value) noexcept;
  static constexpr Float16 from_float(float value) noexcept { return from_double(value); }

  constexpr explicit operator float() const noexcept;
  constexpr explicit operator double() const noexcept { return static_cast<float>(*this); }
  friend constexpr bool operator==(Float16, Float16) noexcept = default;  ///< compares bits
};

struct BFloat16 {
  std::uint16_t bits = 0;

  /// Rounds `value` to nearest even; overflow gives infinity.
  static constexpr BFloat16 from_double(double value) noexcept;
  static constexpr BFloat16 from_float(float value) noexcept { return from_double(value); }

  constexpr explicit operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
  constexpr explicit operator double() const noexcept { return static_cast<float>(*this); }
  friend constexpr bool operator==(BFloat16, BFloat16) noexcept = default;  ///< compares bits
};

namespace detail {

// Rounds a binary64 once to a smaller binary format with kExponentBits and kFractionBits (sum 15), nearest even.
// The integer path makes it independent of the rounding mode and of flush-to-zero settings.
template <int kExponentBits, int kFractionBits>
constexpr std::uint16_t narrow_double(double value) noexcept {
  constexpr int kDoubleBias = 1023;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr std::uint16_t kInfinity = ((1u << kExponentBits) - 1) << kFractionBits;
  const auto raw = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((raw >> 63) << 15);
  const int exponent = static_cast<int>((raw >> 52) & 0x7FF);
  const std::uint64_t fraction = raw & ((std::uint64_t{1} << 52) - 1);
  if (exponent == 0x7FF) {
    const auto quiet = static_cast<std::uint16_t>((1u << (kFractionBits - 1)) | (fraction >> (52 - kFractionBits)));
    return static_cast<std::uint16_t>(sign | kInfinity | (fraction != 0 ? quiet : 0));
  }
  if (exponent == 0) return sign;  // below 2^-1022: far under half of the smallest result

  const int target_exponent = exponent - kDoubleBias + kBias;
  if (target_exponent >= (1 << kExponentBits) - 1) return static_cast<std::uint16_t>(sign | kInfinity);

  // A subnormal result keeps fewer fraction bits: shift the 53-bit significand further to the right.
  const int extra = target_exponent < 1 ? 1 - target_exponent : 0;
  const int shift = 52 - kFractionBits + extra;
  if (shift > 54) return sign;
  const std::uint64_t significand = fraction | (std::uint64_t{1} << 52);
  std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // `kept` holds the implicit bit for normal results, so adding one exponent step less lets a carry do the right thing.
  const std::uint64_t biased = target_exponent < 1 ? 0 : static_cast<std::uint64_t>(target_exponent - 1);
  return static_cast<std::uint16_t>(sign | ((biased << kFractionBits) + kept));
}

}  // namespace detail

constexpr Float16 Float16::from_double(double value) noexcept { return {detail::narrow_double<5, 10>(value)}; }
constexpr BFloat16 BFloat16::from_double(double value) noexcept { return {detail::narrow_double<8, 7>(value)}; }

constexpr Float16::operator float() const noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1Fu;
  const std::uint32_t fraction = bits & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24 is exact in binary32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  const std::uint32_t widened = exponent == 31 ? 255u : exponent + (127 - 15);
  return std::bit_cast<float>(sign | (widened << 23) | (fraction << 13));
}

}  // namespace binet
