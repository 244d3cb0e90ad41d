// Room: kernels, AVX-512. How numbers of bfloat16 become lines and words of tiles (pack-inl.h), and whether their
// products may be left to the matrix registers.
#if defined(BINET_KERNELS_GEMM_TILED_BF16_NUMBERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TILED_BF16_NUMBERS_INL_H_
#undef BINET_KERNELS_GEMM_TILED_BF16_NUMBERS_INL_H_
#else
#define BINET_KERNELS_GEMM_TILED_BF16_NUMBERS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/tiled/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

struct BF16Numbers {
  using Element = uint16_t;
  static constexpr uint32_t kNone = 0xFFFF;
  static constexpr int64_t kPlanes = 1, kPerWord = 2;
  static constexpr bool kLinesAreLoaded = true;
  static constexpr int64_t Row(int64_t word) { return word; }

  /// Of numbers other than zero; kNone if there are none.
  class Least {
   public:
    HWY_INLINE Least() : least_(_mm512_set1_epi16(-1)) {}
    HWY_INLINE void Note(__m512i v) {
      const __m512i doubled = _mm512_add_epi16(v, v);  // without the sign
      least_ = _mm512_min_epu16(least_, _mm512_add_epi16(doubled, _mm512_set1_epi16(-1)));
    }
    HWY_INLINE uint32_t Get() const {
      alignas(64) uint16_t lanes[32];
      _mm512_store_si512(lanes, least_);
      uint32_t least = lanes[0];
      for (const uint16_t lane : lanes) least = HWY_MIN(least, lane);
      return least == 0xFFFF ? kNone : (least + 1) / 2;
    }

   private:
    __m512i least_;
  };

  static constexpr bool kHasWordsOfTwo = true;
  static HWY_INLINE void WordsOfTwo(const Element* from, int64_t k_step, Least& least, __m512i (&v)[2]) {
    const __m512i even = _mm512_loadu_si512(from), odd = _mm512_loadu_si512(from + k_step);
    least.Note(even);
    least.Note(odd);
    const __m512i low = _mm512_unpacklo_epi16(even, odd), high = _mm512_unpackhi_epi16(even, odd);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    v[0] = _mm512_permutex2var_epi64(low, first, high);
    v[1] = _mm512_permutex2var_epi64(low, second, high);
  }

  static HWY_INLINE __m512i WordsOfOne(const Element* from, int64_t k_step, __mmask16 lanes) {
    const __m256i even = _mm256_maskz_loadu_epi16(lanes, from), odd = _mm256_maskz_loadu_epi16(lanes, from + k_step);
    return _mm512_or_si512(_mm512_cvtepu16_epi32(even), _mm512_slli_epi32(_mm512_cvtepu16_epi32(odd), 16));
  }

  static HWY_INLINE void Line(const Element* from, int64_t count, __m512i (&v)[1]) {
    v[0] = count >= 32 ? _mm512_loadu_si512(from)
                       : _mm512_maskz_loadu_epi16(static_cast<__mmask32>(FirstBits(count)), from);
  }
  static HWY_INLINE void Words(const Element* from, int64_t k_step, int64_t ks, __mmask16 lanes, __m512i (&v)[1]) {
    v[0] = ks == 1 ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, from)) : WordsOfOne(from, k_step, lanes);
  }
};

/// The bits of the least magnitudes other than zero.
inline bool AreTooSmallForTiles(uint32_t least_a, uint32_t least_b) {
  if (least_a == BF16Numbers::kNone || least_b == BF16Numbers::kNone) return false;
  const auto exponent_a = static_cast<int>(least_a >> 7), exponent_b = static_cast<int>(least_b >> 7);
  constexpr int kBias = 127;
  if (exponent_a == 0 || exponent_b == 0) return true;
  return (exponent_a - kBias) + (exponent_b - kBias) - 14 < -126;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
