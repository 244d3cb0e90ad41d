// Room: kernels, per target. Vectors of accumulators from elements, and elements from accumulators.
//
// Elements may lie at any alignment, and nothing outside the elements named is read or written. 16-bit floats are
// widened and narrowed as half_floats-inl.h says.
#if defined(BINET_KERNELS_GEMM_LOOPS_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ELEMENTS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ELEMENTS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ELEMENTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/loops/half_floats-inl.h"

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
  } else if constexpr (hn::MaxLanes(d) == 1) {
    return hn::LoadU(d, from);  // never called, as GCC does not see: it warns of what the copy below would overrun
  } else {
    alignas(64) T buffer[hn::MaxLanes(d)] = {};
    std::memcpy(buffer, from, count * sizeof(T));
    return hn::Load(d, buffer);
  }
}

/// The first `count` lanes, of vectors of up to 8, in pieces of 8, 4, 2 and 1.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreInPieces(D d, hn::Vec<D> v, T* to, size_t count) {
  alignas(32) T lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  const T* from = lanes;
  const auto copy = [&](auto piece) HWY_ATTR {
    constexpr size_t kPiece = piece;
    if ((count & kPiece) == 0) return;
    std::memcpy(to, from, kPiece * sizeof(T));  // one instruction; Highway's for one lane would need an aligned `to`
    from += kPiece;
    to += kPiece;
  };
  if constexpr (hn::MaxLanes(d) > 4) copy(std::integral_constant<size_t, 8>());
  copy(std::integral_constant<size_t, 4>());
  copy(std::integral_constant<size_t, 2>());
  copy(std::integral_constant<size_t, 1>());
}

/// A masked store is dozens of steps on AMD's CPUs without AVX-512.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void StoreFirst(hn::Vec<D> v, D d, T* to, size_t count) {
  if constexpr (BINET_MASKS_ARE_CHEAP) {
    hn::BlendedStore(v, hn::FirstN(d, count), d, to);
  } else if constexpr (BINET_HAS_MASKED_MEMORY && sizeof(T) >= 4) {
    StoreInPieces(d, v, to, count);
  } else {
    alignas(64) T buffer[hn::MaxLanes(d)];
    hn::Store(v, d, buffer);
    std::memcpy(to, buffer, count * sizeof(T));
  }
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

#if BINET_MASKS_ARE_CHEAP
/// Those whose bits are set, and zeros.
template <class D, class Element>
HWY_INLINE hn::Vec<D> LoadElementsOf(D d, const Element* from, uint32_t bits) {
  if constexpr (sizeof(Element) == 2) {
    const hn::Rebind<uint16_t, D> d16;
    using Mask = hn::Mask<decltype(d16)>;
    return Widen(d, hn::MaskedLoad(Mask{static_cast<typename Mask::Raw>(bits)}, d16, Bits(from)), Element());
  } else {
    using Mask = hn::Mask<D>;
    return hn::MaskedLoad(Mask{static_cast<typename Mask::Raw>(bits)}, d, from);
  }
}
#endif

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
