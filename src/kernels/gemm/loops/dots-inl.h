// Room: kernels, per target. Few columns: each sum is a dot product along k, where both operands lie side by side.
//
// The order of additions is the same on every target: a sum has as many partial sums as there are lanes in 64 bytes, of
// the products whose k is the same modulo that number, each a chain in the order of k; then the upper half is added to
// the lower half until one is left. One row and one column would hide the latency of their multiply-adds with more. But
// then as many fewer sums went together, of several rows and all columns: what is loaded serves each of them, and rows
// are as many runs of memory, which come sooner than one.
#if defined(BINET_KERNELS_GEMM_LOOPS_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_DOTS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_DOTS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_DOTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fold_lanes-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBytesOfPartialSums = 64;

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

  /// That of row i and column j goes to sums[i * kY + j].
  HWY_INLINE void Multiply(int64_t count, T* sums) const {
    Partials partial;
    HWY_UNROLL(16)
    for (auto& partials : partial) {
      for (size_t v = 0; v < kVectors; ++v) partials[v] = hn::Zero(D());
    }
    int64_t k = 0;
    for (; k + int64_t{kStep} <= count; k += kStep) {
      ForEachVector<kVectors>([&](size_t v) HWY_ATTR { AddWhole(partial, v, k + static_cast<int64_t>(v * kLanes)); });
    }
    // A remainder, as its range is known: a mask of so many lanes is straight code.
    if (const size_t rest = static_cast<size_t>(count) % kStep; rest > 0) AddRest(partial, k, rest);
    KeepInRegisters(partial);
    StoreSums(partial, sums);
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr size_t kSums = kX * kY;
  static constexpr size_t kLanes = hn::MaxLanes(D());
  static constexpr size_t kVectors = kBytesOfPartialSums / sizeof(T) / kLanes;
  static constexpr size_t kStep = kVectors * kLanes;
  using Partials = V[kSums][kVectors];

  /// Vector v of each, which lies from `place` on.
  HWY_INLINE void AddWhole(Partials& partial, size_t v, int64_t place) const {
    const auto load = [&](const Element* from) HWY_ATTR { return LoadElements(D(), from + place); };
    Add(partial, v, load, load);
  }

  /// So many lanes of it, the last ones of k.
  HWY_INLINE void AddFirst(Partials& partial, size_t v, int64_t place, size_t lanes) const {
    Add(
        partial, v, [&](const Element* from) HWY_ATTR { return LoadElements(D(), from + place, lanes); },
        [&](const Element* from) HWY_ATTR { return LoadElementsOrMinusZeros(D(), from + place, lanes); });
  }

  template <class LoadX, class LoadY>
  HWY_INLINE void Add(Partials& partial, size_t v, const LoadX& load_x, const LoadY& load_y) const {
    V y[kY];
    HWY_UNROLL(4)
    for (size_t j = 0; j < kY; ++j) {
      const V loaded = load_y(y_ + static_cast<int64_t>(j) * y_step_);
      y[j] = kX > 1 ? LoadedOnce(loaded) : loaded;
    }
    HWY_UNROLL(8)
    for (size_t i = 0; i < kX; ++i) {
      const V loaded = load_x(x_ + static_cast<int64_t>(i) * x_step_);
      const V x = kY > 1 ? LoadedOnce(loaded) : loaded;
      HWY_UNROLL(4)
      for (size_t j = 0; j < kY; ++j) partial[i * kY + j][v] = MultiplyAdd(x, y[j], partial[i * kY + j][v]);
    }
  }

  /// So many elements from k on, fewer than there are partial sums.
  HWY_INLINE void AddRest(Partials& partial, int64_t k, size_t rest) const {
    if constexpr (kVectors == 1) return AddFirst(partial, 0, k, rest);
    KeepInRegisters(partial);
    ForEachVector<kVectors>([&](size_t v) HWY_ATTR {
      if (v * kLanes >= rest) return;
      const int64_t place = k + static_cast<int64_t>(v * kLanes);
      const size_t lanes = rest - v * kLanes;
      if (lanes >= kLanes) {
        AddWhole(partial, v, place);
      } else {
        AddFirst(partial, v, place, lanes);
      }
    });
  }

  static HWY_INLINE void StoreSums(const Partials& partial, T* sums) {
    if constexpr (kSums == 1) {
      *sums = SumHalves<T, kLanes>(D(), SumVectors<kVectors>(partial[0]));
      return;
    }
    constexpr size_t kTogether = HWY_MIN(kLanes, RoundedUpToPowerOfTwo(kSums));
    Unrolled<(kSums + kTogether - 1) / kTogether>([&](auto part) HWY_ATTR BINET_INLINE_LAMBDA {
      constexpr size_t kFirst = part * kTogether;
      constexpr size_t kCount = HWY_MIN(kTogether, kSums - kFirst);
      V whole[kTogether];
      HWY_UNROLL(16)
      for (size_t i = 0; i < kTogether; ++i) {
        whole[i] = SumVectors<kVectors>(partial[kFirst + HWY_MIN(i, kCount - 1)]);
      }
      const V folded = FoldLanes(D(), whole);
      if constexpr (kCount == kLanes) {
        hn::StoreU(folded, D(), sums + kFirst);
      } else {
        alignas(64) T lanes[kLanes];
        hn::Store(folded, D(), lanes);
        HWY_UNROLL(16)
        for (size_t i = 0; i < kCount; ++i) sums[kFirst + i] = lanes[i * (kLanes / kTogether)];
      }
    });
  }

  static constexpr size_t RoundedUpToPowerOfTwo(size_t count) {
    size_t power = 1;
    while (power < count) power *= 2;
    return power;
  }

  const Element* const x_;
  const int64_t x_step_;
  const Element* const y_;
  const int64_t y_step_;
};

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
