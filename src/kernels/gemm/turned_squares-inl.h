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
#include <type_traits>

#include "kernels/gemm/elements-inl.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/microkernel-inl.h"
#include "kernels/gemm/pack-inl.h"
#include "kernels/gemm/waiting_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// With AVX2 the fetches cost more than they gain (1.0 to 1.2 times as fast without them on Zen 3).
constexpr bool kFetchesRuns = HWY_TARGET != HWY_AVX2;

/// A vector of a whole line is turned half by half where two groups take turns: registers hold no more.
template <size_t kGroups, class Element, class T>
constexpr bool kTurnsHalves = kGroups == 2 && HWY_TARGET == HWY_AVX3 && sizeof(Element) == sizeof(T);

/// Groups of columns, each a vector of Y, for all k of a block. Each has a chain of multiply-adds for each row, whose
/// latency is what limits where B is near. The sums of one row, whose A has all its k side by side, stay in registers.
/// A single group may have fewer `columns` than lanes. What of k makes no whole square is left to AddRestOfK().
template <size_t kGroups, bool kOneRow, bool kIsWhole, class Element, class T>
HWY_NOINLINE void AddSquares(const Block& block, int64_t column, int64_t columns, T* sums, int64_t row_step) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  const int64_t lane_step = block.b_column_step;
  const int64_t a_step = kOneRow ? 1 : block.a_column_step;
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
  const bool fetches = kFetchesRuns && block.near_b != 0;
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
    if constexpr (kTurnsHalves<kGroups, Element, T>) {
      static_assert(kOneRow);
      HWY_UNROLL(2)
      for (size_t first = 0; first < size_t{kLanes}; first += kLanes / 2) {
        HWY_UNROLL(2)
        for (size_t g = 0; g < kGroups; ++g) {
          V row[kLanes];
          TurnHalf(d, lanes[g], first, [&](size_t i, V v) HWY_ATTR { row[i] = v; });
          HWY_UNROLL(16)
          for (size_t i = first; i < first + kLanes / 2; ++i) add(a + k + i, row[i], sum[g]);
        }
      }
      for (auto& group : lanes) group.Advance(kLanes);
      continue;
    }
    const Element* next = next_k < end ? b + next_k : b + int64_t{kGroups} * kLanes * lane_step;
    HWY_UNROLL(4)
    for (size_t g = 0; g < kGroups; ++g) {
      const auto first_lane = static_cast<int64_t>(g) * kLanes;
      const auto* run = reinterpret_cast<const std::byte*>(next + (first_lane + square) * lane_step);
      if (fetches) {
        HWY_UNROLL(16)
        for (size_t i = 0; i < size_t{kRun} * sizeof(Element); i += 64) hwy::Prefetch(run + i);
      }
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
  if constexpr (!kOneRow) return;
  for (size_t g = 0; g < kGroups; ++g) hn::Store(sum[g], d, sums + g * TileShape<T>::kLanes);
}

/// The last square once more, of which only the last rows are new: of k there are as many as lanes.
template <class Element, class T>
HWY_NOINLINE void AddRestOfK(const Block& block, int64_t column, int64_t columns, T* sums, int64_t row_step) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  const int64_t k = block.k - kLanes, first = kLanes - block.k % kLanes;
  const auto* b = reinterpret_cast<const Element*>(block.b) + column * block.b_column_step + k;
  alignas(64) T row[kLanes][kLanes];
  TurnSquare(d, SquareOfFewLanes<T, Element>(b, block.b_column_step, HWY_MIN(columns, kLanes)),
             [&](size_t i, hn::Vec<decltype(d)> v) HWY_ATTR { hn::Store(v, d, row[i]); });
  for (int64_t m = 0; m < block.m; ++m) {
    const T* a = reinterpret_cast<const T*>(block.a) + m * block.a_row_step + (k + first) * block.a_column_step;
    auto sum = hn::Load(d, sums + m * row_step);
    for (int64_t i = first; i < kLanes; ++i, a += block.a_column_step)
      sum = MultiplyAdd(hn::Set(d, LoadOne(a)), hn::Load(d, row[i]), sum);
    hn::Store(sum, d, sums + m * row_step);
  }
}

template <class Element, class T>
void MultiplyTurned(const Block& block) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  // As many columns, rows of B, at a time as a line of the cache has elements, however short vectors are; but only one
  // vector of them, if their lines of the same k share a set of the first-level cache. For one row two vectors as long
  // as a line, whose chains wait in turns: from the caches, on CPUs whose hardware follows so many rows of B, unless
  // these share sets (2 KiB apart 0.7 times as fast on Zen 4, else 1.1 to 1.2 times).
  constexpr bool kIsLine = kTurnsHalves<2, Element, T>;
  constexpr size_t kGroups = kIsLine ? 2 : 64 / sizeof(T) / TileShape<T>::kLanes;
  constexpr int64_t kWays = 8, kPageBytes = 4096;
  const int64_t row_bytes = block.b_column_step * int64_t{sizeof(Element)};
  const bool is_one_row = block.m == 1 && block.a_column_step == 1;
  const bool groups_meet = kGroups > 1 && kLanes >= kWays && row_bytes % (kIsLine ? kPageBytes / 2 : kPageBytes) == 0;
  const bool has_groups = !groups_meet && (!kIsLine || (is_one_row && block.leaves_b_to_hardware && block.near_b != 0));
  const auto add_whole = [&]<size_t kCount>(std::integral_constant<size_t, kCount>, auto... of_columns) HWY_ATTR {
    if (is_one_row) return AddSquares<kCount, true, true, Element>(block, of_columns...);
    if constexpr (!kTurnsHalves<kCount, Element, T>) AddSquares<kCount, false, true, Element>(block, of_columns...);
  };
  WithWaitingSums<Element, T>(block, [&](const Columns& columns, T* sums) {
    for (int64_t n = 0; n < columns.count;) {
      const int64_t column = columns.first + n;
      const int64_t left = columns.count - n;
      const bool takes_groups = has_groups && left >= int64_t{kGroups} * kLanes;
      if (left < kLanes) {
        AddSquares<1, false, false, Element>(block, column, left, sums + n, columns.row_step);
      } else if (takes_groups) {
        add_whole(std::integral_constant<size_t, kGroups>(), column, kLanes, sums + n, columns.row_step);
      } else {
        add_whole(std::integral_constant<size_t, 1>(), column, kLanes, sums + n, columns.row_step);
      }
      const int64_t end = n + (takes_groups ? int64_t{kGroups} : 1) * kLanes;
      for (; n < end; n += kLanes) {
        if (block.k % kLanes == 0) continue;
        AddRestOfK<Element>(block, columns.first + n, columns.count - n, sums + n, columns.row_step);
      }
    }
  });
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
