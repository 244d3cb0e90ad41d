// Room: kernels, per target. The tile: kRows x kVectors vectors of sums held in registers over a range of k.
//
// One chain of multiply-adds per element, in the order of k, whatever the shape of the tile: that is where Binet's
// promise about bits is kept.
#if defined(BINET_KERNELS_GEMM_LOOPS_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_MICROKERNEL_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_MICROKERNEL_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_MICROKERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/loops/all_of_k-inl.h"
#include "kernels/gemm/loops/fetch_run-inl.h"
#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Columns that fill no more than half of a vector take half of the time, in tiles high enough, where a CPU's units are
/// as wide as that.
template <bool kMayBePacked, size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllLanes(const TileOperands<T, TB>& operands, const Row& vectors, size_t last_lanes,
                            V (&sum)[kRows][kVectors]) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (kHasHalfVectors<T> && std::is_same_v<T, TB> && kVectors == 1 && kRows >= 8 && kRows % 4 == 0) {
    const hn::ScalableTag<T> d;
    const hn::Half<decltype(d)> half;
    if (HWY_UNLIKELY(last_lanes <= hn::MaxLanes(half))) {
      hn::Vec<decltype(half)> low[kRows][1];
      HWY_UNROLL(16)
      for (size_t i = 0; i < kRows; ++i) low[i][0] = hn::LowerHalf(half, sum[i][0]);
      TileOperands<T, TB> all = operands;
      AddProducts<Loop{}>(all, RowOfVectors<decltype(half)>(half, last_lanes), low);
      HWY_UNROLL(16)
      for (size_t i = 0; i < kRows; ++i) sum[i][0] = hn::ZeroExtendVector(d, low[i][0]);
      return;
    }
  }
#endif
  AddAllProducts<kMayBePacked>(operands, vectors, last_lanes, sum);
}

template <size_t kRows, size_t kVectors, class T, class TB, bool kMayBePacked = true>
HWY_INLINE void ComputeSums(const TileOperands<BitsOf<T>, BitsOf<TB>>& operands, const TileEnds<BitsOf<T>>& ends) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);

  V sum[kRows][kVectors];
  BeginTile(vectors, ends, sum);
  AddAllLanes<kMayBePacked>(OperandsOf<T, TB>(operands), vectors, ends.last_lanes, sum);
  if constexpr (kMultipliesFromMemory<T>) KeepInRegisters(sum);
  EndTile<TB>(vectors, ends, sum);  // with a B of 16-bit floats Y consists of them too
}

/// kRows x kVectors sums.
template <size_t kRows, size_t kVectors, class T, class TB>
requires(!kByHalves<T>) HWY_NOINLINE
    void MultiplyTile(const TileOperands<BitsOf<T>, BitsOf<TB>>& operands, const TileEnds<BitsOf<T>>& ends) {
  ComputeSums<kRows, kVectors, T, TB>(operands, ends);
}

/// Tiles one below the other, of an A that is not packed, each by compute(). `ends.reach`: of all of them.
/// `fetches_rows`: those of A and Y each touch, and come from afar. Of A tiles read many rows side by side, which
/// hardware does not take for the one run of memory that they are.
template <size_t kRows, class T, class TB, class Compute>
HWY_INLINE void ForTilesBelow(TileOperands<T, TB>& operands, TileEnds<T>& ends, int64_t tiles, bool fetches_rows,
                              const Compute& compute) {
  constexpr int64_t kAheadOfY = 2048;
  const Reach reach_of_last = ends.reach;
  if (reach_of_last == Reach::all_but_last) ends.reach = Reach::all;
  for (; tiles > 0; --tiles) {
    if (tiles == 1) ends.reach = reach_of_last;
    if (HWY_UNLIKELY(fetches_rows)) {
      FetchBehind<kBytesAheadOfTiles>(operands.a, int64_t{kRows} * operands.a_row_step);
      FetchBehind<kAheadOfY>(ends.to, int64_t{kRows} * ends.to_row_step);
      if (ends.c_row_step == ends.to_row_step) FetchBehind<kAheadOfY>(ends.c, int64_t{kRows} * ends.c_row_step);
    }
    compute();
    operands.a += int64_t{kRows} * operands.a_row_step;
    ends.to += int64_t{kRows} * ends.to_row_step;
    ends.c += int64_t{kRows} * ends.c_row_step;
  }
}

/// Of MultiplyTile: with a short k, a call for each would take a third of the time.
template <size_t kRows, size_t kVectors, class T, class TB>
HWY_NOINLINE void MultiplyTiles(TileOperands<BitsOf<T>, BitsOf<TB>> operands, TileEnds<BitsOf<T>> ends, int64_t tiles,
                                bool fetches_rows) {
  ForTilesBelow<kRows>(operands, ends, tiles, fetches_rows, [&]() HWY_ATTR {
    if constexpr (kMultipliesFromMemory<T>) {
      ComputeSums<kRows, kVectors, T, TB, false>(operands, ends);
    } else {
      MultiplyTile<kRows, kVectors, T, TB>(operands, ends);  // the same code
    }
  });
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
