// Room: kernels, AVX-512. The tile for products that an instruction forms in part: two sums for each element.
//
// Numbers are packed as two parts; what they are is the Way's (pair_dots-inl.h, multiply_add_52-inl.h). Three
// instructions add the parts of one or more products to a low sum and to a high one, which is shifted and added to the
// low one when the tile ends.
//
// A packed A has two rows for each group of k: the first parts of its lanes, and then the second ones. A packed B has
// the same, or the first row alone where the second part is better formed on the way.
#if defined(BINET_KERNELS_GEMM_LOOPS_TWO_SUMS_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TWO_SUMS_TILE_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TWO_SUMS_TILE_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TWO_SUMS_TILE_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3
/// `Way` gives T, the accumulator; kGroup, how many k a group has; kRowsOfB; kShift, by which the high sum is shifted;
/// SecondPart(d, second_row, b0) of B; and Add(a0, a1, b0, b1, low, high), for the parts of a group of A and of B.
template <class Way>
struct TwoSumsTiles {
  using T = typename Way::T;
  static constexpr size_t kLanes = TileShape<T>::kLanes;
  /// Two sums for each of 6 x 2 vectors, four vectors of B and two of A: 30 registers.
  static constexpr size_t kRows = 6, kPanelVectors = 2, kPanel = kPanelVectors * kLanes;
  static constexpr size_t kAWidth = (kRows + TileShape<T>::kGroup - 1) / TileShape<T>::kGroup * TileShape<T>::kGroup;

  template <size_t kTileRows, size_t kVectors>
  static HWY_NOINLINE void Multiply(const TileOperands<T, T>& operands, const TileEnds<T>& ends) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);
    V low[kTileRows][kVectors], high[kTileRows][kVectors];
    BeginTile(vectors, ends, low);
    HWY_UNROLL(16)
    for (size_t i = 0; i < kTileRows; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) high[i][j] = hn::Zero(d);
    }

    const T* a = operands.a;
    const T* b = operands.b;
    const int64_t b_row_step = operands.b_row_step;
    for (int64_t k = operands.k; k > 0; k -= Way::kGroup, a += 2 * kAWidth, b += Way::kRowsOfB * b_row_step) {
      V b0[kVectors], b1[kVectors];
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) {
        b0[j] = hn::LoadU(d, b + j * kLanes);
        // Panels from beyond L2 are used once by few rows.
        hwy::Prefetch(b + kPrefetchRows * b_row_step + j * kLanes);
        if (Way::kRowsOfB == 2) hwy::Prefetch(b + (kPrefetchRows + 1) * b_row_step + j * kLanes);
        b1[j] = Way::SecondPart(d, b + b_row_step + j * kLanes, b0[j]);
      }
      HWY_UNROLL(16)
      for (size_t i = 0; i < kTileRows; ++i) {
        const V a0 = hn::Set(d, a[i]), a1 = hn::Set(d, a[kAWidth + i]);
        HWY_UNROLL(16)
        for (size_t j = 0; j < kVectors; ++j) Way::Add(a0, a1, b0[j], b1[j], low[i][j], high[i][j]);
      }
    }

    KeepInRegisters(low);
    KeepInRegisters(high);
    HWY_UNROLL(16)
    for (size_t i = 0; i < kTileRows; ++i) {
      HWY_UNROLL(16)
      for (size_t j = 0; j < kVectors; ++j) low[i][j] = hn::Add(low[i][j], hn::ShiftLeft<Way::kShift>(high[i][j]));
    }
    EndTile<T>(vectors, ends, low);
  }
};
#endif  // HWY_TARGET == HWY_AVX3

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
