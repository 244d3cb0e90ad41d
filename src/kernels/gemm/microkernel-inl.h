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

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/tile_ends-inl.h"
#include "kernels/gemm/tile_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// What a tile asks the caches to fetch while it computes, with each k, `step` bytes further each time.
struct Ahead {
  const std::byte* from = nullptr;
  int64_t step = 0;
};

/// Element (row, k) of A is a[row * a_row_step + k * a_column_step]; vector j of row k of B is at
/// b[j / kPanelVectors * b_panel_step + j % kPanelVectors * kLanes + k * b_row_step].
template <class T, class TB>
struct TileOperands {
  const T* a;
  int64_t a_row_step, a_column_step;
  const TB* b;
  int64_t b_panel_step, b_row_step;
  int64_t k;
  int64_t near = 0;     ///< elements from each vector of B to one that will be read soon, to be fetched with it
  Ahead far;            ///< for tiles as wide as a panel: what will be read much later
  bool fetches = true;  ///< false: for tiles as wide as a panel, if what they and the next ones read is near already
};

/// All of k: the sums of a tile, and on the way what the caches should fetch.
template <bool kFetches, class Row, class T, class TB, class V, size_t kRows, size_t kVectors>
HWY_INLINE void AddProducts(const TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const hn::ScalableTag<T> d;
  // A pointer for every third row, so that the addresses of all rows need few registers.
  constexpr size_t kPointers = (kRows + 2) / 3;
  constexpr size_t kPanels = (kVectors + Shape::kPanelVectors - 1) / Shape::kPanelVectors;

  const int64_t a_row_step = operands.a_row_step;
  const T* a[kPointers] = {operands.a};
  for (size_t p = 1; p < kPointers; ++p) a[p] = a[p - 1] + 3 * a_row_step;
  const TB* b[kPanels] = {operands.b};
  for (size_t p = 1; p < kPanels; ++p) b[p] = b[p - 1] + operands.b_panel_step;

  const int64_t near = operands.near;
  const std::byte* far = operands.far.from;
  for (int64_t k = operands.k; k > 0; --k) {
    V vb[kVectors];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const TB* place = b[j / Shape::kPanelVectors] + j % Shape::kPanelVectors * Shape::kLanes;
      vb[j] = vectors.Load(place, j + 1 == kVectors);
      if (kFetches) hwy::Prefetch(place + near);
    }
    if (kFetches && kVectors == Shape::kPanelVectors) __builtin_prefetch(far, 0, 2);
    HWY_UNROLL(24)
    for (size_t i = 0; i < kRows; ++i) {
      const V va = hn::Set(d, LoadOne(a[i / 3] + static_cast<int64_t>(i % 3) * a_row_step));
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = MultiplyAdd(va, vb[j], sum[i][j]);
    }
    for (size_t p = 0; p < kPointers; ++p) a[p] += operands.a_column_step;
    for (size_t p = 0; p < kPanels; ++p) b[p] += operands.b_row_step;
    if (kFetches) far += operands.far.step;
  }
}

template <size_t kRows, size_t kVectors, class T, class TB>
HWY_INLINE void ComputeSums(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);

  V sum[kRows][kVectors];
  BeginTile(vectors, ends, sum);
  // A tile of one vector has no load to spare. Low tiles are few: not worth a second loop.
  constexpr bool kMayFetch = kVectors > 1;
  constexpr bool kMustFetch = kVectors != TileShape<T>::kPanelVectors || kRows <= TileShape<T>::kRows / 2;
  if (kMayFetch && (kMustFetch || operands.fetches)) {
    AddProducts<true>(operands, vectors, sum);
  } else {
    AddProducts<false>(operands, vectors, sum);
  }

  EndTile<TB>(vectors, ends, sum);  // with a B of 16-bit floats Y consists of them too
}

/// kRows x kVectors sums.
template <size_t kRows, size_t kVectors, class T, class TB>
requires(!kByHalves<T>) HWY_NOINLINE void MultiplyTile(const TileOperands<T, TB>& operands, const TileEnds<T>& ends) {
  ComputeSums<kRows, kVectors>(operands, ends);
}

/// Such tiles one below the other: with a short k, a call for each would take a third of the time.
template <size_t kRows, size_t kVectors, class T, class TB>
HWY_NOINLINE void MultiplyTiles(TileOperands<T, TB> operands, TileEnds<T> ends, int64_t tiles) {
  for (; tiles > 0; --tiles) {
    ComputeSums<kRows, kVectors>(operands, ends);
    operands.a += int64_t{kRows} * operands.a_row_step;
    ends.to += int64_t{kRows} * ends.to_row_step;
    ends.c += int64_t{kRows} * ends.c_row_step;
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
