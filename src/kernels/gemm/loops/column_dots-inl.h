// Room: kernels, per target. The dot products of rows with one column that has so few elements that it stays in
// registers.
//
// With so short a K adding up partial sums (dots-inl.h) takes more time than the products do, so rows share the last
// steps: four where a vector is half a line, as many as it has lanes where it is one. Vectors of half a line have two
// of partial sums. The first product of each is not added to zero there, which changes nothing but the sign of a sum
// that is zero: such rows are left to others.
#if defined(BINET_KERNELS_GEMM_LOOPS_COLUMN_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_COLUMN_DOTS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_COLUMN_DOTS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_COLUMN_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/dots-inl.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fold_lanes-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

/// The lanes of each vector, added upper half to lower half until one is left: as FoldLanes() does, but for floats with
/// two instructions less, a twelfth of the time where K is 32.
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
  const hn::Full256<double> d;
  hn::StoreU(FoldLanes(d, v), d, sums);
}

/// A column of kVectors vectors, of which the last may not be whole. It stays in registers.
template <size_t kVectors, class T, class Element>
class ShortColumn {
 public:
  HWY_INLINE ShortColumn(const Element* column, int64_t count)
      : last_lanes_(static_cast<size_t>(count) - (kVectors - 1) * kLanes), last_mask_(hn::FirstN(D(), last_lanes_)) {
    Unrolled<kVectors>([&](auto v) HWY_ATTR BINET_INLINE_LAMBDA { column_[v] = Load<v>(column); });
  }

  /// The products of the elements of a row, added up to one vector.
  HWY_INLINE hn::Vec<hn::ScalableTag<T>> Multiply(const Element* row) const {
    V partial[kPartials];
    Unrolled<kPartials>([&](auto v) HWY_ATTR BINET_INLINE_LAMBDA { partial[v] = hn::Mul(Load<v>(row), column_[v]); });
    Unrolled<kVectors - kPartials>([&](auto v) HWY_ATTR BINET_INLINE_LAMBDA {
      constexpr size_t kNext = kPartials + v;
      partial[kNext % kPartials] = hn::MulAdd(Load<kNext>(row), column_[kNext], partial[kNext % kPartials]);
    });
    return SumVectors<kPartials>(partial);
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = TileShape<T>::kLanes;
  static constexpr size_t kPartials = kBytesOfPartialSums / sizeof(T) / kLanes;

  template <size_t v>
  HWY_INLINE V Load(const Element* from) const {
    if constexpr (v + 1 < kVectors) return LoadElements(D(), from + v * kLanes);
    if constexpr (sizeof(Element) == sizeof(T)) return hn::MaskedLoad(last_mask_, D(), from + v * kLanes);
    return LoadElements(D(), from + v * kLanes, last_lanes_);
  }

  const size_t last_lanes_;
  const hn::Mask<D> last_mask_;
  V column_[kVectors];
};

/// The sums of four rows, side by side. False: one of them is zero, and may have the other sign if products are added
/// to zero.
template <class Column, class T, class Element>
HWY_INLINE bool MultiplyFour(const Column& column, const Element* a, int64_t a_row_step, T* sums) {
  hn::Vec<hn::ScalableTag<T>> whole[4];
  Unrolled<4>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
    whole[i] = column.Multiply(a + static_cast<int64_t>(i) * a_row_step);
  });
  SumLanesOfFour(whole, sums);
  const hn::CappedTag<T, 4> four;
  return hn::AllFalse(four, hn::Eq(hn::LoadU(four, sums), hn::Zero(four)));
}

#elif HWY_TARGET == HWY_AVX3

/// As DotBlock, for one column of kVectors vectors and at least as many rows as a vector has lanes, which one of
/// partial sums has, too. The last rows may have been among those before, and have the same sums again.
template <size_t kVectors, class T>
HWY_NOINLINE void DotColumnInRegisters(const Block& block) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr size_t kLanes = hn::MaxLanes(d);
  static_assert(kLanes * sizeof(T) == kBytesOfPartialSums);
  const auto last = hn::FirstN(d, static_cast<size_t>(block.k) - (kVectors - 1) * kLanes);
  const auto load = [&](const T* from, auto v) HWY_ATTR BINET_INLINE_LAMBDA {
    return v + 1 < kVectors ? hn::LoadU(d, from + v * kLanes) : hn::MaskedLoad(last, d, from + v * kLanes);
  };
  V column[kVectors];
  Unrolled<kVectors>([&](auto v)
                         HWY_ATTR BINET_INLINE_LAMBDA { column[v] = load(reinterpret_cast<const T*>(block.b), v); });
  // Behind the column -0, whose products with the zeros behind a row change no sum, not even one of -0.
  column[kVectors - 1] = hn::IfThenElse(last, column[kVectors - 1], hn::Set(d, static_cast<T>(-0.0)));
  const auto* a = reinterpret_cast<const T*>(block.a);
  const int64_t a_step = block.a_row_step;  // a copy, which sums are not
  auto* sums = reinterpret_cast<T*>(block.sums);
  for (int64_t m = 0; m < block.m; m += int64_t{kLanes}) {
    const int64_t first = HWY_MIN(m, block.m - int64_t{kLanes});
    const T* row = a + first * a_step;
    V whole[kLanes];
    Unrolled<kLanes>([&](auto i) HWY_ATTR BINET_INLINE_LAMBDA {
      whole[i] = hn::Zero(d);
      Unrolled<kVectors>(
          [&](auto v) HWY_ATTR BINET_INLINE_LAMBDA { whole[i] = hn::MulAdd(load(row, v), column[v], whole[i]); });
      row += a_step;
    });
    hn::StoreU(FoldLanes(d, whole), d, sums + first);
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
