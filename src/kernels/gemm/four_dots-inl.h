// Room: kernels, per target. Four dot products at once where a vector is half a line.
//
// A sum has the partial sums of 256 bytes (dots-inl.h), with AVX2 eight vectors: two sums would take all registers, and
// a single one loads two vectors for each multiply-add. So K is passed over four times, each time for two vectors of
// each of four sums: these are the same additions in the same order, of half as many loads, and four sums share their
// last steps.
#if defined(BINET_KERNELS_GEMM_FOUR_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_FOUR_DOTS_INL_H_
#undef BINET_KERNELS_GEMM_FOUR_DOTS_INL_H_
#else
#define BINET_KERNELS_GEMM_FOUR_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/tile_ends-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

/// The lanes of each vector, added upper half to lower half until one is left.
HWY_INLINE void SumLanesOfFour(const hn::Vec256<float> (&v)[4], float* sums) {
  __m128 half[4];
  HWY_UNROLL(4)
  for (size_t i = 0; i < 4; ++i) {
    half[i] = _mm_add_ps(_mm256_castps256_ps128(v[i].raw), _mm256_extractf128_ps(v[i].raw, 1));
  }
  const __m128 of01 = _mm_add_ps(_mm_movelh_ps(half[0], half[1]), _mm_movehl_ps(half[1], half[0]));
  const __m128 of23 = _mm_add_ps(_mm_movelh_ps(half[2], half[3]), _mm_movehl_ps(half[3], half[2]));
  constexpr int kEven = 0x88, kOdd = 0xDD;
  _mm_storeu_ps(sums, _mm_add_ps(_mm_shuffle_ps(of01, of23, kEven), _mm_shuffle_ps(of01, of23, kOdd)));
}
HWY_INLINE void SumLanesOfFour(const hn::Vec256<double> (&v)[4], double* sums) {
  HWY_UNROLL(2)
  for (size_t i = 0; i < 4; i += 2) {
    const __m128d first = _mm_add_pd(_mm256_castpd256_pd128(v[i].raw), _mm256_extractf128_pd(v[i].raw, 1));
    const __m128d second = _mm_add_pd(_mm256_castpd256_pd128(v[i + 1].raw), _mm256_extractf128_pd(v[i + 1].raw, 1));
    _mm_storeu_pd(sums + i, _mm_add_pd(_mm_unpacklo_pd(first, second), _mm_unpackhi_pd(first, second)));
  }
}

/// The dot products of kX rows of A and kY columns of B, four together, in both of which neighbouring k lie side by
/// side.
template <size_t kX, size_t kY, class T>
class FourDots {
  static_assert(kX * kY == 4);

 public:
  FourDots(const T* x, int64_t x_step, const T* y, int64_t y_step) : x_(x), x_step_(x_step), y_(y), y_step_(y_step) {}

  /// Those of row i and column j go to sums[i * sums_row_step + j].
  HWY_INLINE void Multiply(int64_t count, T* sums, int64_t sums_row_step) const {
    V whole[4], half[4];
    for (size_t first = 0; first < 2; ++first) {
      for (size_t v = first; v < 4; v += 2) {
        V sum[4][2];
        AddChains(static_cast<int64_t>(v * kLanes), count, sum);
        HWY_UNROLL(4)
        for (size_t i = 0; i < 4; ++i) {
          const V both = hn::Add(sum[i][0], sum[i][1]);
          half[i] = v == first ? both : hn::Add(half[i], both);
        }
      }
      HWY_UNROLL(4)
      for (size_t i = 0; i < 4; ++i) whole[i] = first == 0 ? half[i] : hn::Add(whole[i], half[i]);
    }
    alignas(32) T four[4];
    SumLanesOfFour(whole, four);
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i) sums[static_cast<int64_t>(i / kY) * sums_row_step + int64_t{i % kY}] = four[i];
  }

 private:
  static constexpr size_t kLanes = TileShape<T>::kLanes;
  static constexpr int64_t kPartials = 8 * kLanes;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;

  /// The partial sums of the vectors from `at` on, and from four vectors later on.
  HWY_INLINE void AddChains(int64_t at, int64_t count, V (&sum)[4][2]) const {
    HWY_UNROLL(4)
    for (size_t i = 0; i < 4; ++i) sum[i][0] = sum[i][1] = hn::Zero(D());
    for (; at + 5 * int64_t{kLanes} <= count; at += kPartials) {
      const auto load = [&](const T* from) HWY_ATTR { return hn::LoadU(D(), from + at); };
      const auto load_next = [&](const T* from) HWY_ATTR { return hn::LoadU(D(), from + at + 4 * kLanes); };
      Add(sum, 0, load, load);
      Add(sum, 1, load_next, load_next);
    }
    if (at < count) AddLast(sum, 0, at, count);
    at += int64_t{4 * kLanes};
    if (at < count) AddLast(sum, 1, at, count);
    KeepInRegisters(sum);
  }

  /// A vector that may be the last one.
  HWY_INLINE void AddLast(V (&sum)[4][2], size_t chain, int64_t at, int64_t count) const {
    const auto mask = hn::FirstN(D(), static_cast<size_t>(HWY_MIN(count - at, int64_t{kLanes})));
    const auto load = [&](const T* from) HWY_ATTR { return hn::MaskedLoad(mask, D(), from + at); };
    const V minus_zeros = hn::IfThenZeroElse(mask, hn::SignBit(D()));  // times zero they change no sum
    Add(sum, chain, load, [&](const T* from) HWY_ATTR { return hn::Or(load(from), minus_zeros); });
  }

  template <class LoadX, class LoadY>
  HWY_INLINE void Add(V (&sum)[4][2], size_t chain, const LoadX& load_x, const LoadY& load_y) const {
    V x[kX];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kX; ++i) x[i] = load_x(x_ + static_cast<int64_t>(i) * x_step_);
    HWY_UNROLL(4)
    for (size_t j = 0; j < kY; ++j) {
      const V y = load_y(y_ + static_cast<int64_t>(j) * y_step_);
      HWY_UNROLL(4)
      for (size_t i = 0; i < kX; ++i) sum[i * kY + j][chain] = hn::MulAdd(x[i], y, sum[i * kY + j][chain]);
    }
  }

  const T* const x_;
  const int64_t x_step_;
  const T* const y_;
  const int64_t y_step_;
};

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
