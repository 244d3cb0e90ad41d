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
#include <type_traits>

#include "kernels/gemm/column_dots-inl.h"
#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/four_dots-inl.h"
#include "kernels/gemm/k_loop-inl.h"
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

/// All rows of A and kY columns of B, kX rows at a time.
template <size_t kX, size_t kY, class T, class Element>
HWY_INLINE void DotColumns(const Block& block, const Element* a, const Element* b, T* sums) {
  int64_t m = 0;
  for (; m + int64_t{kX} <= block.m; m += kX) {
    Dots<kX, kY, T, Element>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
  for (; m < block.m; ++m) {
    Dots<1, kY, T, Element>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
}

#if HWY_TARGET == HWY_AVX2
/// As many rows as go kX at a time: how many.
template <size_t kX, size_t kY, class T>
HWY_NOINLINE int64_t DotFour(const Block& block, const T* a, const T* b, T* sums) {
  int64_t m = 0;
  for (; m + int64_t{kX} <= block.m; m += kX) {
    FourDots<kX, kY, T>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
  return m;
}

/// As DotBlock.
template <class T>
void DotBlockByFour(const Block& block, const T* a, const T* b, T* sums) {
  // Rows and columns that are passed over four times stay in the first-level cache.
  constexpr int64_t kMostK = 4096 / sizeof(T);
  int64_t n = 0, m = 0;
  const auto columns = [&](int64_t count) HWY_ATTR {
    Block rows = block;
    rows.m -= m;
    const int64_t first = m * block.sums_row_step + n;
    for (int64_t i = 0; i < count && rows.m > 0; ++i) {
      DotColumns<1, 1>(rows, a + m * block.a_row_step, b + (n + i) * block.b_panel_step, sums + first + i);
    }
  };
  if (block.k <= kMostK && block.n == 4) {
    DotFour<1, 4>(block, a, b, sums);
    return;
  }
  for (; block.k <= kMostK && n + 2 <= block.n; n += 2) {
    m = DotFour<2, 2>(block, a, b + n * block.b_panel_step, sums + n);
    columns(2);
  }
  m = 0;
  columns(block.n - n);
}
#endif

/// As DotBlock, for any shape.
template <class Element, class T>
HWY_NOINLINE void DotAnyBlock(const Block& block) {
  constexpr size_t kTogether = DotShape<T>::kTogether;
  const auto* a = reinterpret_cast<const Element*>(block.a);
  const auto* b = reinterpret_cast<const Element*>(block.b);
  auto* sums = reinterpret_cast<T*>(block.sums);
#if HWY_TARGET == HWY_AVX2
  if constexpr (hwy::IsFloat<T>() && std::is_same_v<Element, T>) return DotBlockByFour(block, a, b, sums);
#endif
  int64_t n = 0;
  if constexpr (kTogether == 4) {
    if constexpr (hwy::IsFloat<T>() && std::is_same_v<Element, T>) {
      if (block.n == 4) return DotColumns<1, 4>(block, a, b, sums);  // A is read once, and as one run
    }
    for (; n + 2 <= block.n; n += 2) DotColumns<2, 2>(block, a, b + n * block.b_panel_step, sums + n);
  }
  for (; n < block.n; ++n) DotColumns<kTogether, 1>(block, a, b + n * block.b_panel_step, sums + n);
}

#if HWY_TARGET == HWY_AVX2
/// Four rows or more, and one column.
template <class Column, class Element, class T>
HWY_NOINLINE void DotOneColumn(const Block& block) {
  const Column column(reinterpret_cast<const Element*>(block.b), block.k);
  Block rows = block;
  rows.m = 4;
  for (int64_t m = 0; m < block.m; m += rows.m) {
    const int64_t first = HWY_MIN(m, block.m - rows.m);
    const auto* a = reinterpret_cast<const Element*>(block.a) + first * block.a_row_step;
    auto* sums = reinterpret_cast<T*>(block.sums) + first;
    if (HWY_LIKELY(MultiplyFour(column, a, block.a_row_step, sums))) continue;
    rows.a = reinterpret_cast<const std::byte*>(a);
    rows.sums = reinterpret_cast<std::byte*>(sums);
    DotAnyBlock<Element, T>(rows);
  }
}

/// Null: there is none for the shape, or none that is faster.
template <class Element, class T>
HWY_INLINE void (*FindDotsOfOneColumn(const Block& block))(const Block&) {
  if (block.n != 1 || block.m < 4 || block.sums_row_step != 1) return nullptr;
  constexpr auto kLanes = static_cast<int64_t>(DotShape<T>::kLanes);
  const int64_t vectors = (block.k + kLanes - 1) / kLanes;
  if (vectors == 8) return &DotOneColumn<ShortColumn<8, T, Element>, Element, T>;
  if constexpr (sizeof(T) == 4) {  // of f64 a K that is shorter takes no dots
    if (vectors == 4) return &DotOneColumn<ShortColumn<4, T, Element>, Element, T>;
    if (vectors == 5) return &DotOneColumn<ShortColumn<5, T, Element>, Element, T>;
    if (vectors == 6) return &DotOneColumn<ShortColumn<6, T, Element>, Element, T>;
    if (vectors == 7) return &DotOneColumn<ShortColumn<7, T, Element>, Element, T>;
  }
  return nullptr;
}
#endif

/// Both operands have k side by side: row m of A is at m * a_row_step, column n of B at n * b_panel_step.
template <class Element, class T>
void DotBlock(const Block& block) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (hwy::IsFloat<T>()) {
    if (const auto multiply = FindDotsOfOneColumn<Element, T>(block)) return multiply(block);
  }
#endif
  DotAnyBlock<Element, T>(block);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
