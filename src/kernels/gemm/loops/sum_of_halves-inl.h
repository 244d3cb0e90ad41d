// Room: kernels, per target. Sums of products of 64-bit integers that are formed from 32-bit halves.
//
// With a = ah * 2^32 + al and b = bh * 2^32 + bl, modulo 2^64
//
//   a * b = al * bl + (ah * bl + al * bh) * 2^32
//
// where the first product must be whole, and of the others the lower 32 bits do: one multiplication of 32-bit lanes
// forms both of them, when the halves of a have changed places. Their sums are kept apart, 32 bits wide, and added to
// each other and to the first one's when a tile ends: two multiplications and two additions for each product, where
// joining the parts at once would take three of each and a shift.
#if defined(BINET_KERNELS_GEMM_LOOPS_SUM_OF_HALVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_SUM_OF_HALVES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_SUM_OF_HALVES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_SUM_OF_HALVES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of sums while a tile adds products to it.
template <class V>
struct RunningSum {
  HWY_INLINE RunningSum() {}  // NOLINT(modernize-use-equals-default): GCC would not compile that one for the target
  HWY_INLINE void Begin(V from) { sum_ = from; }
  HWY_INLINE void Add(V a, V b) { sum_ = MultiplyAdd(a, b, sum_); }
  HWY_INLINE V End() const { return sum_; }

 private:
  V sum_;
};

#if HWY_TARGET != HWY_SCALAR  // which has neither MulEven nor Shuffle2301

/// The sum of whole products and that of the others, of both halves.
template <class V, class V32>
HWY_INLINE V JoinHalves(V sum, V32 cross) {
  const auto both = hn::BitCast(hn::DFromV<V>(), hn::Add(cross, hn::Shuffle2301(cross)));
  return hn::Add(sum, hn::ShiftLeft<32>(both));
}

template <class V>
requires(kByHalves<hn::TFromV<V>>) struct RunningSum<V> {
  using D32 = hn::Repartition<uint32_t, hn::DFromV<V>>;
  using V32 = hn::Vec<D32>;
  HWY_INLINE RunningSum() {}  // NOLINT(modernize-use-equals-default): as above
  HWY_INLINE void Begin(V from) {
    sum_ = from;
    cross_ = hn::Zero(D32());
  }
  HWY_INLINE void Add(V a, V b) {
    const auto halves_of_a = hn::BitCast(D32(), a), halves_of_b = hn::BitCast(D32(), b);
    sum_ = hn::Add(sum_, hn::MulEven(halves_of_a, halves_of_b));
    cross_ = hn::Add(cross_, hn::Mul(hn::Shuffle2301(halves_of_a), halves_of_b));
  }
  HWY_INLINE V End() const {
    V32 kept[1][1] = {{cross_}};
    KeepInRegisters(kept);
    return JoinHalves(sum_, kept[0][0]);
  }

 private:
  V sum_;
  V32 cross_;
};

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
