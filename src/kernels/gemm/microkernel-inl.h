// Room: kernels, per target. The tile: kRows x kVectors vectors of sums held in registers over a range of k.
//
// One chain of multiply-adds per element, in the order of k, whatever the shape of the tile: that is where Binet's
// promise about bits is kept.
#if defined(BINET_KERNELS_GEMM_MICROKERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#undef BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#else
#define BINET_KERNELS_GEMM_MICROKERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/all_of_k-inl.h"
#include "kernels/gemm/tile_ends-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <size_t kRows, size_t kVectors, class T, class TB>
HWY_INLINE void ComputeSums(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);

  V sum[kRows][kVectors];
  BeginTile(vectors, ends, sum);
  AddAllProducts(operands, vectors, sum);
  EndTile<TB>(vectors, ends, sum);  // with a B of 16-bit floats Y consists of them too
}

/// kRows x kVectors sums.
template <size_t kRows, size_t kVectors, class T, class TB>
requires(!kByHalves<T>) HWY_NOINLINE void MultiplyTile(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  ComputeSums<kRows, kVectors>(operands, ends);
}

/// Such tiles one below the other: with a short k, a call for each would take a third of the time. `ends.reach`: of all
/// of them.
template <size_t kRows, size_t kVectors, class T, class TB>
HWY_NOINLINE void MultiplyTiles(TileOperands<T, TB> operands, TileEnds<T> ends, int64_t tiles) {
  const Reach reach_of_last = ends.reach;
  if (reach_of_last == Reach::all_but_last) ends.reach = Reach::all;
  for (; tiles > 0; --tiles) {
    if (tiles == 1) ends.reach = reach_of_last;
    ComputeSums<kRows, kVectors>(operands, ends);
    operands.a += int64_t{kRows} * operands.a_row_step;
    ends.to += int64_t{kRows} * ends.to_row_step;
    ends.c += int64_t{kRows} * ends.c_row_step;
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
