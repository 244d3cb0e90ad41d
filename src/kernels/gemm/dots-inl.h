// Room: kernels, per target. Few columns: each sum is a dot product along k, where both operands lie side by side.
//
// The order of additions is the same on every target: kPartials sums, of the products whose k is the same modulo
// kPartials, each a chain in the order of k; then the upper half is added to the lower half until one is left. That
// many chains hide the latency of the multiply-adds whatever the length of a vector.
#if defined(BINET_KERNELS_GEMM_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_DOTS_INL_H_
#undef BINET_KERNELS_GEMM_DOTS_INL_H_
#else
#define BINET_KERNELS_GEMM_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/microkernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct DotShape {
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr size_t kPartials = 256 / sizeof(T);
  static constexpr size_t kVectors = kPartials / kLanes;
  /// Columns of Y^T that share the loads of a row.
  static constexpr size_t kTogether = kVectors == 4 ? 4 : 1;
};

/// The lanes of a vector, added pair by pair: upper half to lower half.
template <class T, size_t kCount>
HWY_INLINE T SumHalves(hn::CappedTag<T, kCount> d, hn::Vec<hn::CappedTag<T, kCount>> v) {
#if HWY_TARGET == HWY_SCALAR
  (void)d;
  return hn::GetLane(v);
#else
  if constexpr (kCount > 1) {
    const hn::CappedTag<T, kCount / 2> half;
    return SumHalves<T, kCount / 2>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, hn::BitCast(d, v))));
  } else {
    return hn::GetLane(v);
  }
#endif
}

template <class T>
HWY_INLINE T SumPartials(hn::Vec<hn::ScalableTag<T>> (&partial)[DotShape<T>::kVectors]) {
  using Shape = DotShape<T>;
  HWY_UNROLL(8)
  for (size_t half = Shape::kVectors / 2; half > 0; half /= 2) {
    HWY_UNROLL(8)
    for (size_t v = 0; v < half; ++v) partial[v] = hn::Add(partial[v], partial[v + half]);
  }
  return SumHalves<T, Shape::kLanes>(hn::CappedTag<T, Shape::kLanes>(), partial[0]);
}

/// The dot products of `x` and each of kTogether vectors y, `y_step` elements apart.
template <size_t kTogether, class T, class Element>
HWY_INLINE void Dots(const Element* x, const Element* y, int64_t y_step, int64_t count, T* sums) {
  using Shape = DotShape<T>;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V partial[kTogether][Shape::kVectors];
  for (size_t i = 0; i < kTogether; ++i) {
    for (size_t v = 0; v < Shape::kVectors; ++v) partial[i][v] = hn::Zero(d);
  }
  int64_t k = 0;
  for (; k + int64_t{Shape::kPartials} <= count; k += Shape::kPartials) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < Shape::kVectors; ++v) {
      const int64_t place = k + static_cast<int64_t>(v * Shape::kLanes);
      const V vx = LoadElements(d, x + place);
      HWY_UNROLL(4)
      for (size_t i = 0; i < kTogether; ++i) {
        const V vy = LoadElements(d, y + static_cast<int64_t>(i) * y_step + place);
        partial[i][v] = MultiplyAdd(vx, vy, partial[i][v]);
      }
    }
  }
  HWY_UNROLL(16)
  for (size_t v = 0; v < Shape::kVectors; ++v) {
    const int64_t place = k + static_cast<int64_t>(v * Shape::kLanes);
    if (place >= count) break;
    const auto rest = static_cast<size_t>(count - place);
    const bool is_whole = rest >= Shape::kLanes;
    const V vx = is_whole ? LoadElements(d, x + place) : LoadElements(d, x + place, rest);
    HWY_UNROLL(4)
    for (size_t i = 0; i < kTogether; ++i) {
      const Element* from = y + static_cast<int64_t>(i) * y_step + place;
      const V vy = is_whole ? LoadElements(d, from) : LoadElements(d, from, rest);
      partial[i][v] = MultiplyAdd(vx, vy, partial[i][v]);
    }
  }
  HWY_UNROLL(4)
  for (size_t i = 0; i < kTogether; ++i) sums[i] = SumPartials<T>(partial[i]);
}

/// Both operands have k side by side: row m of A is at m * a_row_step, column n of B at n * b_panel_step.
template <class Element, class T>
void DotBlock(const Block& block) {
  using Shape = DotShape<T>;
  const auto* a = reinterpret_cast<const Element*>(block.a);
  auto* sums = reinterpret_cast<T*>(block.sums);
  for (int64_t m = 0; m < block.m; ++m, a += block.a_row_step, sums += block.sums_row_step) {
    const auto* b = reinterpret_cast<const Element*>(block.b);
    int64_t n = 0;
    for (; n + int64_t{Shape::kTogether} <= block.n; n += Shape::kTogether) {
      Dots<Shape::kTogether>(a, b + n * block.b_panel_step, block.b_panel_step, block.k, sums + n);
    }
    for (; n < block.n; ++n) Dots<1>(a, b + n * block.b_panel_step, block.b_panel_step, block.k, sums + n);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
