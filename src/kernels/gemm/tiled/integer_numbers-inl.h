// Room: kernels, AVX-512. How the bytes of integers become lines and words of tiles (pack-inl.h): a plane for each.
#if defined(BINET_KERNELS_GEMM_TILED_INTEGER_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_INTEGER_NUMBERS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_INTEGER_NUMBERS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_INTEGER_NUMBERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// No magnitude matters.
struct NoLeast {
  HWY_INLINE void Note(__m512i) {}
  HWY_INLINE uint32_t Get() const { return 0; }
};

/// Bit by bit `mask ? yes : no`.
HWY_INLINE __m512i Select(__m512i mask, __m512i yes, __m512i no) {
  return _mm512_ternarylogic_epi32(mask, yes, no, 0xCA);
}

/// 64 neighbouring k, 16 in each vector, become a line for each of their bytes. Word 4 * l + i of it has the bytes of k
/// from 16 * i + 4 * l on, so that nothing crosses the 128-bit blocks.
HWY_INLINE void SplitLine(const __m512i (&numbers)[4], __m512i* planes) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
  __m512i v[4];
  for (size_t i = 0; i < 4; ++i) v[i] = _mm512_shuffle_epi8(numbers[i], order);
  const __m512i low01 = _mm512_unpacklo_epi32(v[0], v[1]), high01 = _mm512_unpackhi_epi32(v[0], v[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(v[2], v[3]), high23 = _mm512_unpackhi_epi32(v[2], v[3]);
  planes[0] = _mm512_unpacklo_epi64(low01, low23);
  planes[1] = _mm512_unpackhi_epi64(low01, low23);
  planes[2] = _mm512_unpacklo_epi64(high01, high23);
  planes[3] = _mm512_unpackhi_epi64(high01, high23);
}

/// Four k of 16 lanes become a row of words for each of their bytes.
HWY_INLINE void SplitWords(const __m512i (&rows)[4], __m512i* planes) {
  const __m512i even_bytes = _mm512_set1_epi16(0x00FF), low_halves = _mm512_set1_epi32(0xFFFF);
  const __m512i a02 = Select(even_bytes, rows[0], _mm512_slli_epi16(rows[1], 8));
  const __m512i a13 = Select(even_bytes, _mm512_srli_epi16(rows[0], 8), rows[1]);
  const __m512i b02 = Select(even_bytes, rows[2], _mm512_slli_epi16(rows[3], 8));
  const __m512i b13 = Select(even_bytes, _mm512_srli_epi16(rows[2], 8), rows[3]);
  planes[0] = Select(low_halves, a02, _mm512_slli_epi32(b02, 16));
  planes[1] = Select(low_halves, a13, _mm512_slli_epi32(b13, 16));
  planes[2] = Select(low_halves, _mm512_srli_epi32(a02, 16), b02);
  planes[3] = Select(low_halves, _mm512_srli_epi32(a13, 16), b13);
}

struct U32Numbers {
  using Element = uint32_t;
  using Least = NoLeast;
  static constexpr int64_t kPlanes = 4, kPerWord = 4;
  static constexpr bool kHasWordsOfTwo = false;
  static constexpr bool kLinesAreLoaded = false;
  static constexpr int64_t Row(int64_t word) { return word % 4 * 4 + word / 4; }

  static HWY_INLINE void Line(const Element* from, int64_t count, __m512i (&planes)[kPlanes]) {
    __m512i numbers[4];
    for (int64_t i = 0; i < 4; ++i) {
      numbers[i] = _mm512_maskz_loadu_epi32(static_cast<__mmask16>(FirstBits(count - 16 * i)), from + 16 * i);
    }
    SplitLine(numbers, planes);
  }
  static HWY_INLINE void Words(const Element* from, int64_t k_step, int64_t ks, __mmask16 lanes,
                               __m512i (&planes)[kPlanes]) {
    __m512i rows[4];
    for (int64_t k = 0; k < 4; ++k) {
      rows[k] = k < ks ? _mm512_maskz_loadu_epi32(lanes, from + k * k_step) : _mm512_setzero_si512();
    }
    SplitWords(rows, planes);
  }
};

struct U64Numbers {
  using Element = uint64_t;
  using Least = NoLeast;
  static constexpr int64_t kPlanes = 8, kPerWord = 4;
  static constexpr bool kHasWordsOfTwo = false;
  static constexpr bool kLinesAreLoaded = false;
  static constexpr int64_t Row(int64_t word) { return U32Numbers::Row(word); }

  static HWY_INLINE void Line(const Element* from, int64_t count, __m512i (&planes)[kPlanes]) {
    __m512i low[4], high[4];
    for (int64_t i = 0; i < 4; ++i) Load16(from + 16 * i, FirstBits(count - 16 * i), low[i], high[i]);
    SplitLine(low, planes);
    SplitLine(high, planes + 4);
  }
  static HWY_INLINE void Words(const Element* from, int64_t k_step, int64_t ks, __mmask16 lanes,
                               __m512i (&planes)[kPlanes]) {
    __m512i low[4] = {}, high[4] = {};
    for (int64_t k = 0; k < 4; ++k) {
      if (k < ks) Load16(from + k * k_step, lanes, low[k], high[k]);
    }
    SplitWords(low, planes);
    SplitWords(high, planes + 4);
  }

 private:
  /// The lower and the upper halves of 16 numbers.
  static HWY_INLINE void Load16(const Element* from, uint64_t mask, __m512i& low, __m512i& high) {
    const __m512i first = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask), from);
    const __m512i second = _mm512_maskz_loadu_epi64(static_cast<__mmask8>(mask >> 8), from + 8);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    low = _mm512_permutex2var_epi32(first, even, second);
    high = _mm512_permutex2var_epi32(first, _mm512_add_epi32(even, _mm512_set1_epi32(1)), second);
  }
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
