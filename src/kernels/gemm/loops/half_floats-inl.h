// Room: kernels, per target. Vectors of f32 from 16-bit floats, and back.
//
// Widening is exact; narrowing rounds to nearest even, keeps subnormals and makes NaNs quiet, whatever the target's own
// conversions do.
#if defined(BINET_KERNELS_GEMM_LOOPS_HALF_FLOATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_HALF_FLOATS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_HALF_FLOATS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_HALF_FLOATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "binet/float16.h"

// F16C rounds as its operand says, and neither it nor NEON's conversion flushes subnormals here.
#undef BINET_HAS_F16_CONVERSION
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
#define BINET_HAS_F16_CONVERSION 1
#else
#define BINET_HAS_F16_CONVERSION 0
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Lane by lane `a < bound ? yes : no`; both below 2^31.
template <class DU>
HWY_INLINE hn::Vec<DU> IfBelow(DU du, hn::Vec<DU> a, int32_t bound, hn::Vec<DU> yes, hn::Vec<DU> no) {
  const hn::RebindToSigned<DU> di;  // signed comparisons are those that every target has
  const auto is_below = hn::Lt(hn::BitCast(di, a), hn::Set(di, bound));
  return hn::BitCast(du, hn::IfThenElse(is_below, hn::BitCast(di, yes), hn::BitCast(di, no)));
}

template <class D>
HWY_INLINE hn::Vec<D> Widen(D df, hn::Vec<hn::Rebind<uint16_t, D>> half, Float16) {
#if BINET_HAS_F16_CONVERSION
  return hn::PromoteTo(df, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), half));
#else
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::PromoteTo(du, half);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFu));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  // Read with the exponent bias of f32 the value is too small by 2^112, subnormals included; the product is exact.
  const auto scaled = hn::BitCast(du, hn::Mul(hn::BitCast(df, hn::ShiftLeft<13>(magnitude)), hn::Set(df, 0x1p112f)));
  const auto special = hn::Or(scaled, hn::Set(du, 0x7F800000u));
  return hn::BitCast(df, hn::Or(IfBelow(du, magnitude, 0x7C00, scaled, special), sign));
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> Widen(D df, hn::Vec<hn::Rebind<uint16_t, D>> half, BFloat16) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    // To the upper half of each lane in one step: tiles have none to spare.
    const __m512i places = _mm512_srli_epi32(_mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8,
                                                              8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0),
                                             0);
    const __m512i wide = _mm512_castsi256_si512(half.raw);
    return hn::BitCast(df, hn::Vec<hn::RebindToUnsigned<D>>{_mm512_maskz_permutexvar_epi16(0xAAAAAAAAu, places, wide)});
  }
#endif
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(df, hn::ShiftLeft<16>(hn::PromoteTo(du, half)));
}

#undef BINET_INLINE_NARROW
#if BINET_HAS_F16_CONVERSION
#define BINET_INLINE_NARROW HWY_INLINE
#else
#define BINET_INLINE_NARROW HWY_NOINLINE  // of some forty instructions there would be a dozen copies
#endif
template <class D>
BINET_INLINE_NARROW hn::Vec<hn::Rebind<uint16_t, D>> Narrow(D df, hn::Vec<D> v, Float16) {
  const hn::Rebind<uint16_t, D> d16;
#if BINET_HAS_F16_CONVERSION
  (void)df;
  return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), v));
#else
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));

  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto rebias_and_round = hn::Add(odd, hn::Set(du, 0xFFFu - (112u << 23)));
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, rebias_and_round));
  // The unit in the last place of 0.5 is 2^-24, that of subnormal results: the addition rounds to it.
  const auto shifted = hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f)));
  const auto subnormal = hn::Sub(shifted, hn::Set(du, 0x3F000000u));
  const auto nan = hn::Or(hn::ShiftRight<13>(hn::And(magnitude, hn::Set(du, 0x7FFFFFu))), hn::Set(du, 0x7E00u));

  auto result = IfBelow(du, magnitude, 0x38800000, subnormal, normal);        // 2^-14
  result = IfBelow(du, magnitude, 0x477FF000, result, hn::Set(du, 0x7C00u));  // 65520: half way to 2^16
  result = IfBelow(du, magnitude, 0x7F800001, result, nan);
  return hn::TruncateTo(d16, hn::Or(result, sign));
#endif
}

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> Narrow(D df, hn::Vec<D> v, BFloat16) {
  (void)df;
#if HWY_TARGET == HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) {
    // The same as below with masks, in half the instructions.
    const __m512i bits = _mm512_castps_si512(v.raw);
    const __mmask16 is_odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __m512i result = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7FFF));
    result = _mm512_mask_add_epi32(result, is_odd, result, _mm512_set1_epi32(1));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(v.raw, v.raw, _CMP_UNORD_Q);
    result = _mm512_mask_or_epi32(result, is_nan, bits, _mm512_set1_epi32(0x400000));
    const __m512i upper_halves = _mm512_set_epi16(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1, 31, 29, 27,
                                                  25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
    return hn::Vec<hn::Rebind<uint16_t, D>>{_mm512_castsi512_si256(_mm512_permutexvar_epi16(upper_halves, result))};
  }
#endif
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7FFFu)), odd);
  const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
  const auto result = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, rounded);
  return hn::TruncateTo(hn::Rebind<uint16_t, D>(), hn::ShiftRight<16>(result));
}

/// Two vectors of sums are rounded in fewer steps than one and one.
template <class Element>
constexpr bool kRoundsTwo = (HWY_TARGET == HWY_AVX2) && std::is_same_v<Element, BFloat16>;

#if HWY_TARGET == HWY_AVX2
/// None is NaN. Both as one vector of 16-bit numbers, v0's in the even places. One more where the lower half is above
/// 0x8000, or is 0x8000 and the upper half is odd: an even one loses the tie by having one taken from the lower half.
HWY_INLINE __m256i RoundTwo(__m256 v0, __m256 v1) {
  const __m256i bits0 = _mm256_castps_si256(v0), bits1 = _mm256_castps_si256(v1);
  const __m256i upper = _mm256_blend_epi16(_mm256_srli_epi32(bits0, 16), bits1, 0xAA);
  const __m256i lower = _mm256_blend_epi16(bits0, _mm256_slli_epi32(bits1, 16), 0xAA);
  const __m256i is_even = _mm256_andnot_si256(upper, _mm256_set1_epi16(1));
  const __m256i carry = _mm256_srli_epi16(_mm256_subs_epu16(lower, is_even), 15);
  const __m256i places =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
  return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(_mm256_add_epi16(upper, carry), places), 0xD8);
}
#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
