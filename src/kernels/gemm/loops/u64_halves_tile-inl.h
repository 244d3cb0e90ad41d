// Room: kernels, per target. The tile for 64-bit integers where products are formed from 32-bit halves
// (sum_of_halves-inl.h). It takes all registers: those with an element of A serve all columns of a row before its
// halves change places.
#if defined(BINET_KERNELS_GEMM_LOOPS_U64_HALVES_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_U64_HALVES_TILE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_U64_HALVES_TILE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_U64_HALVES_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/sum_of_halves-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has neither MulEven nor Shuffle2301

/// The sums of all k: of whole products, and of halves.
template <bool kIsWhole, class Row, class T, class TB, class V, class V32, size_t kRows, size_t kVectors>
HWY_INLINE void AddHalves(const TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors],
                          V32 (&cross)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const hn::ScalableTag<T> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  const T* a = operands.a;
  const TB* b = operands.b;
  const int64_t near = operands.near;
  const std::byte* far = operands.far.from;
  for (int64_t k = operands.k; k > 0; --k, a += operands.a_column_step, b += operands.b_row_step) {
    V32 vb[kVectors];
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      const int64_t panel = j / Shape::kPanelVectors, vector = j % Shape::kPanelVectors;
      const TB* place = b + panel * operands.b_panel_step + vector * int64_t{Shape::kLanes};
      vb[j] = hn::BitCast(d32, vectors.Load(place, !kIsWhole && j + 1 == kVectors));
      if (kVectors > 1) hwy::Prefetch(place + near);
    }
    if (kVectors == Shape::kPanelVectors) __builtin_prefetch(far, 0, 2);
    far += operands.far.step;
    HWY_UNROLL(16)
    for (size_t i = 0; i < kRows; ++i) {
      const V32 va = hn::BitCast(d32, hn::Set(d, LoadOne(a + static_cast<int64_t>(i) * operands.a_row_step)));
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Add(sum[i][j], hn::MulEven(va, vb[j]));
      const V32 exchanged = hn::Shuffle2301(va);
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) cross[i][j] = hn::Add(cross[i][j], hn::Mul(exchanged, vb[j]));
    }
  }
}

template <size_t kRows, size_t kVectors, class T, class TB>
requires(kByHalves<T>) HWY_NOINLINE
    void MultiplyTile(const TileOperands<BitsOf<T>, BitsOf<TB>>& operands, const TileEnds<BitsOf<T>>& ends) {
  const hn::ScalableTag<T> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  using V = hn::Vec<decltype(d)>;
  using V32 = hn::Vec<decltype(d32)>;
  const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);

  V sum[kRows][kVectors];
  V32 cross[kRows][kVectors];
  BeginTile(vectors, ends, sum);
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) cross[i][j] = hn::Zero(d32);
  }

  // A mask takes a register, of which there are none to spare.
  if (!kTakesAnyColumns<TB> || operands.b_is_whole) {
    AddHalves<true>(operands, vectors, sum, cross);
  } else {
    AddHalves<false>(operands, vectors, sum, cross);
  }

  KeepInRegisters(sum);
  KeepInRegisters(cross);
  HWY_UNROLL(16)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) sum[i][j] = JoinHalves(sum[i][j], cross[i][j]);
  }
  EndTile<T>(vectors, ends, sum);
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
