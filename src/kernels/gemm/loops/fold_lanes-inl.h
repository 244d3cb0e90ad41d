// Room: kernels, per target. The lanes of vectors, added up: for each vector the upper half to the lower half, until
// one lane is left. Vectors share the steps: a step on two of them leaves one.
#if defined(BINET_KERNELS_GEMM_LOOPS_FOLD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FOLD_LANES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FOLD_LANES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FOLD_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Of each `kBytes` of x and y the upper half, added to the lower half. Those of x and of y alternate.
template <size_t kBytes, class D>
HWY_INLINE hn::Vec<D> AddUpperHalves(D d, hn::Vec<D> x, hn::Vec<D> y) {
#if HWY_TARGET != HWY_SCALAR  // which has lanes of its own alone
  constexpr size_t kVectorBytes = hn::MaxLanes(d) * sizeof(hn::TFromD<D>);
  if constexpr (kBytes == kVectorBytes && kBytes > 16) {
    return hn::Add(hn::ConcatLowerLower(d, y, x), hn::ConcatUpperUpper(d, y, x));
  } else if constexpr (kBytes == 32) {
    return hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(y), x), hn::OddEvenBlocks(y, hn::SwapAdjacentBlocks(x)));
  } else if constexpr (kBytes == 16) {
    const hn::Repartition<uint64_t, D> pairs;
    const auto bits_x = hn::BitCast(pairs, x), bits_y = hn::BitCast(pairs, y);
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, bits_x, bits_y)),
                   hn::BitCast(d, hn::InterleaveUpper(pairs, bits_x, bits_y)));
  } else {
    return hn::Add(hn::OddEven(hn::DupEven(y), x), hn::OddEven(y, hn::DupOdd(x)));
  }
#else
  (void)d, (void)y;
  return x;
#endif
}

/// Of one vector.
template <class T, size_t kCount>
HWY_INLINE T SumHalves(hn::CappedTag<T, kCount> d, hn::Vec<hn::CappedTag<T, kCount>> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kCount > 1) {
    const hn::CappedTag<T, kCount / 2> half;
    return SumHalves<T, kCount / 2>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, hn::BitCast(d, v))));
  }
#endif
  (void)d;
  return hn::GetLane(v);
}

/// kCount vectors, a power of two and no more than lanes: their sums, in order, each repeated until all lanes are full.
template <class D, size_t kCount, size_t kBytes = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>)>
HWY_INLINE hn::Vec<D> FoldLanes(D d, const hn::Vec<D> (&v)[kCount]) {
  if constexpr (kBytes == sizeof(hn::TFromD<D>)) {
    static_assert(kCount == 1);
    return v[0];
  } else {
    constexpr size_t kPairs = (kCount + 1) / 2;
    hn::Vec<D> halves[kPairs];
    HWY_UNROLL(8)
    for (size_t i = 0; i < kPairs; ++i) halves[i] = AddUpperHalves<kBytes>(d, v[i], v[kCount == 1 ? 0 : i + kPairs]);
    return FoldLanes<D, kPairs, kBytes / 2>(d, halves);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
