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
#include "kernels/gemm/microkernel-inl.h"
#include "kernels/gemm/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
struct DotShape {
  static constexpr size_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
  static constexpr size_t kPartials = 256 / sizeof(T);
  static constexpr size_t kVectors = kPartials / kLanes;
  /// Sums formed at a time: where registers allow, four, whose last steps they share.
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

/// The vectors of partial sums, added pair by pair: those of the upper half to those of the lower half.
template <size_t kVectors, class V>
HWY_INLINE V SumVectors(const V* partial) {
  if constexpr (kVectors == 1) {
    return partial[0];
  } else {
    V sums[kVectors / 2];
    HWY_UNROLL(8)
    for (size_t v = 0; v < kVectors / 2; ++v) sums[v] = hn::Add(partial[v], partial[v + kVectors / 2]);
    return SumVectors<kVectors / 2>(sums);
  }
}

#if HWY_TARGET == HWY_AVX3
/// The sums of the lanes of four vectors, each as SumHalves forms it, but most steps at once for all.
template <class T>
HWY_INLINE void SumHalvesOfFour(hn::ScalableTag<T> d, hn::Vec<hn::ScalableTag<T>> (&v)[4], T* (&to)[4]) {
  const auto add_halves = [d](auto x, auto y) HWY_ATTR {  // 256 bits of x, and of y
    return hn::Add(hn::ConcatLowerLower(d, y, x), hn::ConcatUpperUpper(d, y, x));
  };
  const auto x = add_halves(v[0], v[2]);
  const auto y = add_halves(v[1], v[3]);
  // Blocks of 128 bits, one of each vector, in order.
  auto sum = hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(y), x), hn::OddEvenBlocks(y, hn::SwapAdjacentBlocks(x)));
  if constexpr (sizeof(T) == 4) {
    sum = hn::Add(sum, hn::Shuffle1032(sum));
    sum = hn::Add(sum, hn::Shuffle2301(sum));
  } else {
    sum = hn::Add(sum, hn::Shuffle01(sum));
  }
  alignas(64) T sums[DotShape<T>::kLanes];
  hn::Store(sum, d, sums);
  for (size_t i = 0; i < 4; ++i) *to[i] = sums[i * 16 / sizeof(T)];
}
#endif

/// In registers where there are enough of them; else in a loop, which is short.
template <size_t kVectors, class Function>
HWY_INLINE void ForEachVector(const Function& function) {
  if constexpr (kVectors <= (HWY_TARGET == HWY_NEON ? 16 : 8)) {
    HWY_UNROLL(16)
    for (size_t v = 0; v < kVectors; ++v) function(v);
  } else {
    HWY_UNROLL(1)
    for (size_t v = 0; v < kVectors; ++v) function(v);
  }
}

/// The dot products of kX rows of A and kY columns of B, in both of which neighbouring k lie side by side.
template <size_t kX, size_t kY, class T, class Element>
class Dots {
 public:
  Dots(const Element* x, int64_t x_step, const Element* y, int64_t y_step)
      : x_(x), x_step_(x_step), y_(y), y_step_(y_step) {}

  /// Those of row i and column j go to sums[i * sums_row_step + j].
  HWY_INLINE void Multiply(int64_t count, T* sums, int64_t sums_row_step) {
    const hn::ScalableTag<T> d;
    V partial[kX * kY][Shape::kVectors];
    for (auto& partials : partial) {
      for (size_t v = 0; v < Shape::kVectors; ++v) partials[v] = hn::Zero(d);
    }
    int64_t k = 0;
    for (; k + int64_t{Shape::kPartials} <= count; k += Shape::kPartials) {
      ForEachVector<Shape::kVectors>(
          [&](size_t v) HWY_ATTR { AddWhole(partial, v, k + static_cast<int64_t>(v * Shape::kLanes)); });
    }
    if (k < count) AddRest(partial, k, static_cast<size_t>(count - k));
    KeepInRegisters(partial);
    SumUp(partial, sums, sums_row_step);
  }

 private:
  using Shape = DotShape<T>;
  using V = hn::Vec<hn::ScalableTag<T>>;

  /// Vector v of each, which lies from `place` on.
  HWY_INLINE void AddWhole(V (&partial)[kX * kY][Shape::kVectors], size_t v, int64_t place) const {
    const auto load = [&](const Element* from) HWY_ATTR { return LoadElements(hn::ScalableTag<T>(), from + place); };
    Add(partial, v, load, load);
  }

  /// So many lanes of it, the last ones of k.
  HWY_INLINE void AddFirst(V (&partial)[kX * kY][Shape::kVectors], size_t v, int64_t place, size_t lanes) const {
    const hn::ScalableTag<T> d;
    Add(
        partial, v, [&](const Element* from) HWY_ATTR { return LoadElements(d, from + place, lanes); },
        [&](const Element* from) HWY_ATTR { return LoadElementsOrMinusZeros(d, from + place, lanes); });
  }

  template <class LoadX, class LoadY>
  HWY_INLINE void Add(V (&partial)[kX * kY][Shape::kVectors], size_t v, const LoadX& load_x,
                      const LoadY& load_y) const {
    V vx[kX];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kX; ++i) {
      const V loaded = load_x(x_ + static_cast<int64_t>(i) * x_step_);
      vx[i] = kY > 1 ? LoadedOnce(loaded) : loaded;
    }
    HWY_UNROLL(4)
    for (size_t j = 0; j < kY; ++j) {
      const V vy = load_y(y_ + static_cast<int64_t>(j) * y_step_);
      HWY_UNROLL(4)
      for (size_t i = 0; i < kX; ++i) partial[i * kY + j][v] = MultiplyAdd(vx[i], vy, partial[i * kY + j][v]);
    }
  }

  /// So many elements from k on, fewer than there are partial sums.
  HWY_INLINE void AddRest(V (&partial)[kX * kY][Shape::kVectors], int64_t k, size_t rest) const {
    if constexpr (Shape::kTogether == 4 && hwy::IsFloat<T>()) {
      // Straight code for each number of vectors: in a loop that may end at each of them GCC leaves sums in memory.
      switch ((rest - 1) / Shape::kLanes) {
        case 0:
          return AddLast<0>(partial, k, rest);
        case 1:
          return AddLast<1>(partial, k, rest);
        case 2:
          return AddLast<2>(partial, k, rest);
        default:
          return AddLast<3>(partial, k, rest);
      }
    }
    KeepInRegisters(partial);
    ForEachVector<Shape::kVectors>([&](size_t v) HWY_ATTR {
      if (v * Shape::kLanes >= rest) return;
      const int64_t place = k + static_cast<int64_t>(v * Shape::kLanes);
      const size_t lanes = rest - v * Shape::kLanes;
      if (lanes >= Shape::kLanes) {
        AddWhole(partial, v, place);
      } else {
        AddFirst(partial, v, place, lanes);
      }
    });
  }

  /// Vector kLast is the last one, and not more than whole.
  template <size_t kLast>
  HWY_INLINE void AddLast(V (&partial)[kX * kY][Shape::kVectors], int64_t k, size_t rest) const {
    Unrolled<kLast>([&](auto v) HWY_ATTR BINET_INLINE_LAMBDA {
      AddWhole(partial, v, k + static_cast<int64_t>(v * Shape::kLanes));
    });
    const int64_t place = k + static_cast<int64_t>(kLast * Shape::kLanes);
    AddFirst(partial, kLast, place, rest - kLast * Shape::kLanes);
  }

  static HWY_INLINE void SumUp(const V (&partial)[kX * kY][Shape::kVectors], T* sums, int64_t sums_row_step) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (kX * kY == 4) {
      V whole[4];
      T* to[4];
      HWY_UNROLL(4)
      for (size_t i = 0; i < 4; ++i) {
        whole[i] = SumVectors<Shape::kVectors>(partial[i]);
        to[i] = sums + static_cast<int64_t>(i / kY) * sums_row_step + i % kY;
      }
      return SumHalvesOfFour(hn::ScalableTag<T>(), whole, to);
    }
#endif
    HWY_UNROLL(4)
    for (size_t i = 0; i < kX * kY; ++i) {
      sums[static_cast<int64_t>(i / kY) * sums_row_step + static_cast<int64_t>(i % kY)] =
          SumHalves<T, Shape::kLanes>(hn::CappedTag<T, Shape::kLanes>(), SumVectors<Shape::kVectors>(partial[i]));
    }
  }

  const Element* const x_;
  const int64_t x_step_;
  const Element* const y_;
  const int64_t y_step_;
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
