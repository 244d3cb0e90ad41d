// Room: kernels, per target. Few rows of Y and a transposed B that is not packed: squares of B are turned in registers
// and multiplied at once.
//
// Packing would store what is used once or a few times. The lanes of a vector are columns of Y, rows of B in memory: as
// many streams as there are lanes, which the hardware's prefetchers do not follow when they begin a page apart.
#if defined(BINET_KERNELS_GEMM_TURNED_SQUARES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_TURNED_SQUARES_INL_H_
#undef BINET_KERNELS_GEMM_TURNED_SQUARES_INL_H_
#else
#define BINET_KERNELS_GEMM_TURNED_SQUARES_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/microkernel-inl.h"
#include "kernels/gemm/pack-inl.h"
#include "kernels/gemm/waiting_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// Groups of columns, each a vector of Y, for all k of a block. One row holds its sums in registers: there the latency
/// of the multiply-adds, a chain for each group, is what limits where B is near. More rows are more chains. A single
/// group may have fewer `columns` than lanes; of k there must be as many.
template <size_t kGroups, bool kOneRow, bool kIsWhole, class Element, class T>
HWY_NOINLINE void AddSquares(const Block& block, int64_t column, int64_t columns, T* sums, int64_t row_step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  const int64_t lane_step = block.b_column_step;
  const int64_t a_step = block.a_column_step;
  const auto* a = reinterpret_cast<const T*>(block.a);
  const auto* b = reinterpret_cast<const Element*>(block.b) + column * lane_step;
  V sum[kGroups];
  for (size_t g = 0; g < kGroups; ++g) sum[g] = hn::Load(d, sums + g * TileShape<T>::kLanes);

  const auto add = [&](const T* from, const V& b_row, V& to)
                       HWY_ATTR { to = MultiplyAdd(hn::Set(d, LoadOne(from)), b_row, to); };
  const auto for_rows = [&](size_t g, const auto& add_row) HWY_ATTR {
    if constexpr (kOneRow) return add_row(a, sum[g]);
    for (int64_t m = 0; m < block.m; ++m) {
      T* place = sums + m * row_step + int64_t(g) * kLanes;
      V row_sum = hn::Load(d, place);
      add_row(a + m * block.a_row_step, row_sum);
      hn::Store(row_sum, d, place);
    }
  };

  // A run of k has as many squares as there are lanes: each fetches one row of the next run, which is a run of memory.
  constexpr int64_t kRun = kLanes * kLanes;
  const int64_t end = block.k / kLanes * kLanes;
  std::conditional_t<kIsWhole, SquareOfLanes<T, Element>, SquareOfFewLanes<T, Element>> lanes[kGroups];
  for (size_t g = 0; g < kGroups; ++g) {
    const Element* const from = b + int64_t(g) * kLanes * lane_step;
    if constexpr (kIsWhole) {
      lanes[g] = {from, lane_step};
    } else {
      lanes[g] = {from, lane_step, columns};
    }
  }
  for (int64_t k = 0; k < end; k += kLanes) {
    const int64_t square = k % kRun / kLanes;
    const int64_t next_k = k - k % kRun + kRun;
    const Element* next = next_k < end ? b + next_k : b + int64_t{kGroups} * kLanes * lane_step;
    HWY_UNROLL(4)
    for (size_t g = 0; g < kGroups; ++g) {
      const auto first_lane = static_cast<int64_t>(g) * kLanes;
      const auto* run = reinterpret_cast<const std::byte*>(next + (first_lane + square) * lane_step);
      for (size_t i = 0; i < size_t{kRun} * sizeof(Element); i += 64) hwy::Prefetch(run + i);
      V row[kLanes];
      TurnSquare(d, lanes[g], [&](size_t i, V v) HWY_ATTR { row[i] = v; });
      lanes[g].Advance(kLanes);
      for_rows(g, [&](const T* a_row, V& to) HWY_ATTR {
        a_row += k * a_step;
        HWY_UNROLL(16)
        for (int64_t i = 0; i < kLanes; ++i, a_row += a_step) add(a_row, row[i], to);
      });
    }
  }
  if (end < block.k) {  // the last square once more, of which the last rows are new
    const int64_t first = kLanes - (block.k - end);
    for (size_t g = 0; g < kGroups; ++g) {
      alignas(64) T row[kLanes][kLanes];
      lanes[g].Advance(-first);
      TurnSquare(d, lanes[g], [&](size_t i, V v) HWY_ATTR { hn::Store(v, d, row[i]); });
      for_rows(g, [&](const T* a_row, V& to) HWY_ATTR {
        for (int64_t i = first; i < kLanes; ++i) add(a_row + (end - first + i) * a_step, hn::Load(d, row[i]), to);
      });
    }
  }
  if constexpr (!kOneRow) return;
  for (size_t g = 0; g < kGroups; ++g) hn::Store(sum[g], d, sums + g * TileShape<T>::kLanes);
}

template <class Element, class T>
void MultiplyTurned(const Block& block) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  // As many columns, rows of B, at a time as a line of the cache has elements, however short vectors are.
  constexpr size_t kGroups = 64 / sizeof(T) / TileShape<T>::kLanes;
  WithWaitingSums<Element, T>(block, [&](const Columns& columns, T* sums) {
    for (int64_t n = 0; n < columns.count;) {
      const int64_t column = columns.first + n;
      const int64_t left = columns.count - n;
      if (left < kLanes) {
        AddSquares<1, false, false, Element>(block, column, left, sums + n, columns.row_step);
        return;
      }
      if (block.m > 1) {
        AddSquares<1, false, true, Element>(block, column, kLanes, sums + n, columns.row_step);
        n += kLanes;
      } else if (left >= int64_t{kGroups} * kLanes) {
        AddSquares<kGroups, true, true, Element>(block, column, kLanes, sums + n, columns.row_step);
        n += int64_t{kGroups} * kLanes;
      } else {
        AddSquares<1, true, true, Element>(block, column, kLanes, sums + n, columns.row_step);
        n += kLanes;
      }
    }
  });
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
