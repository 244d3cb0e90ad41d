// Room: kernels, per target. Vectors of accumulators from elements, and elements from accumulators.
//
// Elements may lie at any alignment, and nothing outside the elements named is read or written. Widening is exact;
// narrowing rounds to nearest even, keeps subnormals and makes NaNs quiet, whatever the target's own conversions do.
#if defined(BINET_KERNELS_GEMM_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_ELEMENTS_INL_H_
#undef BINET_KERNELS_GEMM_ELEMENTS_INL_H_
#else
#define BINET_KERNELS_GEMM_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "binet/float16.h"

// F16C rounds as its operand says, and neither it nor NEON's conversion flushes subnormals here.
#undef BINET_HAS_F16_CONVERSION
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
#define BINET_HAS_F16_CONVERSION 1
#else
#define BINET_HAS_F16_CONVERSION 0
#endif

// Masked loads and stores that touch only the chosen lanes.
#undef BINET_HAS_MASKED_MEMORY
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define BINET_HAS_MASKED_MEMORY 1
#else
#define BINET_HAS_MASKED_MEMORY 0
#endif

// CPUs too old to be worth the room that further ways to compute the same take.
#undef BINET_IS_OLD_TARGET
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4
#define BINET_IS_OLD_TARGET 1
#else
#define BINET_IS_OLD_TARGET 0
#endif

// Masked loads and stores, of one instruction more at most, that may end the rows of any tile.
#undef BINET_MASKS_ARE_CHEAP
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
#define BINET_MASKS_ARE_CHEAP 1
#else
#define BINET_MASKS_ARE_CHEAP 0
#endif

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of B and of Y need not be whole vectors: what follows the last column is neither read nor written. AVX2 has
/// cheap loads under a mask, of 4 and 8 bytes; its stores are dear on some CPUs, so that a tile ends such rows apart.
template <class Element>
constexpr bool kTakesAnyColumns = BINET_MASKS_ARE_CHEAP || (HWY_TARGET == HWY_AVX2 && sizeof(Element) >= 4);

template <class T>
HWY_INLINE T LoadOne(const T* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));  // `from` need not be aligned to T
  return value;
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadAny(D d, const T* from) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, LoadOne(from));  // Highway's would dereference a misaligned pointer
#else
  return hn::LoadU(d, from);
#endif
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreAny(hn::Vec<D> v, D d, T* to) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  const T value = hn::GetLane(v);
  std::memcpy(to, &value, sizeof(T));
#else
  hn::StoreU(v, d, to);
#endif
}

#if HWY_TARGET == HWY_AVX2
/// 16-bit numbers, pair by pair under a mask; then the last of them, once more or for the first time. A copy of a few
/// bytes that is loaded at once has the load wait until they are written, two to three times as long as all of this.
HWY_INLINE __m128i LoadFirstOf16Bits(const uint16_t* from, size_t count) {
  const auto n = static_cast<int>(count);
  const __m128i is_in_pair = _mm_cmpgt_epi32(_mm_set1_epi32(n / 2), _mm_setr_epi32(0, 1, 2, 3));
  const __m128i is_last =
      _mm_cmpeq_epi16(_mm_set1_epi16(static_cast<int16_t>(n - 1)), _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
  const __m128i pairs = _mm_maskload_epi32(reinterpret_cast<const int*>(from), is_in_pair);
  const __m128i last = _mm_set1_epi16(static_cast<int16_t>(LoadOne(from + count - 1)));
  return _mm_blendv_epi8(pairs, last, is_last);
}
#endif

/// The first `count` elements, at least one and fewer than Lanes(d); zeros follow.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const T* from, size_t count) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(T) == 2) return hn::Vec<D>{LoadFirstOf16Bits(from, count)};
#endif
  if constexpr (BINET_HAS_MASKED_MEMORY && (sizeof(T) >= 4 || BINET_MASKS_ARE_CHEAP)) {
    return hn::MaskedLoad(hn::FirstN(d, count), d, from);
  } else {
    alignas(64) T buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, from, count * sizeof(T));
    return hn::Load(d, buffer);
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* to, size_t count) {
  if constexpr (BINET_HAS_MASKED_MEMORY && (sizeof(T) >= 4 || BINET_MASKS_ARE_CHEAP)) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else {
    alignas(64) T buffer[hn::MaxLanes(d)];
    hn::Store(v, d, buffer);
    std::memcpy(to, buffer, count * sizeof(T));
  }
}

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

template <class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> Narrow(D df, hn::Vec<D> v, Float16) {
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

/// Storage of a 16-bit float is a struct of its bits, which may be read as such.
template <class Half>
HWY_INLINE const uint16_t* Bits(const Half* from) {
  static_assert(sizeof(Half) == sizeof(uint16_t));
  return reinterpret_cast<const uint16_t*>(from);
}

/// Lanes(d) elements as accumulators; with a count, that many and zeros.
template <class D, class Element>
HWY_INLINE hn::Vec<D> LoadElements(D d, const Element* from) {
  if constexpr (sizeof(Element) == 2) {
    return Widen(d, LoadAny(hn::Rebind<uint16_t, D>(), Bits(from)), Element());
  } else {
    return LoadAny(d, from);
  }
}
template <class D, class Element>
HWY_INLINE hn::Vec<D> LoadElements(D d, const Element* from, size_t count) {
  if constexpr (sizeof(Element) == 2) {
    return Widen(d, LoadFirst(hn::Rebind<uint16_t, D>(), Bits(from), count), Element());
  } else {
    return LoadFirst(d, from, count);
  }
}

/// As LoadElements, but what follows is -0 in floats: times zero it changes no sum, not even one that is -0.
template <class D, class Element>
HWY_INLINE hn::Vec<D> LoadElementsOrMinusZeros(D d, const Element* from, size_t count) {
  const auto v = LoadElements(d, from, count);
  if constexpr (!hwy::IsFloat<hn::TFromD<D>>()) return v;
  return hn::Or(v, hn::IfThenZeroElse(hn::FirstN(d, count), hn::SignBit(d)));
}

template <class D, class Element>
HWY_INLINE void StoreElements(hn::Vec<D> v, D d, Element* to) {
  if constexpr (sizeof(Element) == 2) {
    StoreAny(Narrow(d, v, Element()), hn::Rebind<uint16_t, D>(), const_cast<uint16_t*>(Bits(to)));
  } else {
    StoreAny(v, d, to);
  }
}
template <class D, class Element>
HWY_INLINE void StoreElements(hn::Vec<D> v, D d, Element* to, size_t count) {
  if constexpr (sizeof(Element) == 2) {
    StoreFirst(Narrow(d, v, Element()), hn::Rebind<uint16_t, D>(), const_cast<uint16_t*>(Bits(to)), count);
  } else {
    StoreFirst(v, d, to, count);
  }
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

/// 2 * Lanes(d) elements.
template <class D, class Element>
HWY_INLINE void StoreTwo(hn::Vec<D> v0, hn::Vec<D> v1, D d, Element* to) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (kRoundsTwo<Element>) {
    const bool has_nan = _mm256_movemask_ps(_mm256_cmp_ps(v0.raw, v1.raw, _CMP_UNORD_Q)) != 0;
    if (HWY_LIKELY(!has_nan)) {
      return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), RoundTwo(v0.raw, v1.raw));
    }
  }
#endif
  StoreElements(v0, d, to);
  StoreElements(v1, d, to + hn::Lanes(d));
}

/// One element as an accumulator.
template <class T, class Element>
HWY_INLINE T Widened(const Element* from) {
  if constexpr (sizeof(Element) == 2) {
    return static_cast<T>(LoadOne(from));
  } else {
    return LoadOne(from);
  }
}

/// A vector that several multiply-adds use, where there are registers for it: GCC else loads it anew for each, which
/// takes twice as long where it lies across two lines.
template <class V>
HWY_INLINE V LoadedOnce(V v) {
#if HWY_TARGET == HWY_AVX3 && HWY_COMPILER_GCC_ACTUAL
  auto raw = v.raw;  // a copy: an array of vectors would go to memory
  asm("" : "+v"(raw));
  v.raw = raw;
#endif
  return v;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
