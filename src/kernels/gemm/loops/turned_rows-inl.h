// Room: kernels, per target. A small B that is transposed becomes rows, which a small product reads as it reads any B.
#if defined(BINET_KERNELS_GEMM_LOOPS_TURNED_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TURNED_ROWS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TURNED_ROWS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TURNED_ROWS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// So few elements of each lane are moved one by one sooner than a square of long vectors is turned.
constexpr int64_t kFewK = 5;

/// Rows of whole vectors of accumulators, packing.panel_step apart: the last lane fills up its vector.
template <class T, class Element>
void TurnRows(const Packing& packing) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  const int64_t step = packing.lane_step, width = packing.panel_step, last = packing.k - kLanes;
  for (int64_t lane = 0; lane < packing.lanes; lane += kLanes) {
    const auto* from = reinterpret_cast<const Element*>(packing.from) + lane * step;
    auto* to = reinterpret_cast<T*>(packing.to) + lane;
    const int64_t lanes = HWY_MIN(kLanes, packing.lanes - lane);
    if (sizeof(T) * kLanes == 64 && packing.k <= kFewK) {
      for (int64_t k = 0; k < packing.k; ++k) {
        for (int64_t i = 0; i < kLanes; ++i) to[k * width + i] = Widened<T>(from + HWY_MIN(i, lanes - 1) * step + k);
      }
      continue;
    }
    if (last < 0) {
      const hn::ScalableTag<T> d;
      TurnFewK(d, SquareOfFewLanes<T, Element>(from, step, lanes), static_cast<size_t>(packing.k),
               [&](size_t k, hn::Vec<decltype(d)> row) HWY_ATTR {
                 if (static_cast<int64_t>(k) < packing.k) hn::StoreU(row, d, to + static_cast<int64_t>(k) * width);
               });
      continue;
    }
    const auto turn = [&](auto square) HWY_ATTR {
      // The last square may repeat some k of the one before.
      if (TransposeSquares(square, packing.k, to, width) == packing.k) return;
      square.Advance(last);
      TransposeSquares(square, kLanes, to + last * width, width);
    };
    if (lanes == kLanes) {
      turn(SquareOfLanes<T, Element>(from, step));
    } else {
      turn(SquareOfFewLanes<T, Element>(from, step, lanes));
    }
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
