// Room: kernels, per target. Few rows of Y and a transposed B that is not packed: how many groups of columns are turned
// at a time.
#if defined(BINET_KERNELS_GEMM_LOOPS_MULTIPLY_TURNED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_TURNED_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_MULTIPLY_TURNED_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_MULTIPLY_TURNED_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/rest_of_k-inl.h"
#include "kernels/gemm/loops/rows_of_a-inl.h"
#include "kernels/gemm/loops/staggered_squares-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/turned_squares-inl.h"
#include "kernels/gemm/loops/waiting_sums-inl.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no squares

/// One row of floats with a short K, with AVX2: two groups are too few chains to hide their latency, and to begin with
/// them takes as long as some squares. With more k rows of B are more streams than prefetchers follow.
template <class Element, class T>
constexpr bool kHasFourGroups = kKeepsSumsOfRows<Element, T>;
constexpr int64_t kMostKOfFourGroups = 128;

/// How many groups of the columns at a time, and which.
template <class Element, class T>
HWY_INLINE void TurnColumns(const Block& block, bool rows_meet) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  // As many columns, rows of B, at a time as a line of the cache has elements, however short vectors are; but only one
  // vector of them, or two at different k, if their lines of the same k share a set of the first-level cache. Two
  // vectors as long as a line where the plan says so.
  constexpr bool kIsLine = kTurnsHalves<2>;
  constexpr size_t kGroups = kIsLine ? 2 : 64 / sizeof(T) / TileShape<T>::kLanes;
  const bool is_one_row = block.m == 1 && block.a_column_step == 1;
  // The last of several groups need not be whole then, which costs a load of a pointer for each of its rows.
  const bool last_may_be_part = kIsLine || (kKeepsSumsOfRows<Element, T> && is_one_row);
  const int64_t columns_of_groups = last_may_be_part ? (kGroups - 1) * kLanes + 1 : kGroups * kLanes;  // at least
  const bool groups_meet = kLanes >= kLinesOfSet && rows_meet;
  const bool has_groups = kGroups > 1 && (kIsLine ? block.turns_two_groups : !groups_meet);
  const bool takes_four = kHasFourGroups<Element, T> && is_one_row && block.k <= kMostKOfFourGroups && !groups_meet;
  const RestOfK<Element, T> rest(block);
  WithWaitingSums<Element, T>(block, [&](const WaitingColumns& columns, T* sums) HWY_ATTR {
    int64_t n = 0;
    if constexpr (kStaggers<T>) {
      if (groups_meet && block.staggers_groups) n = AddStaggeredSquares<Element>(block, columns, sums);
      if (n > 0 && !rest.IsEmpty()) rest.Add(columns.first, n, sums, columns.row_step);
    }
    while (block.k >= kLanes && n < columns.count) {
      const int64_t left = columns.count - n;
      const bool are_four = takes_four && left >= 4 * kLanes;
      const bool takes_groups = !are_four && has_groups && left >= columns_of_groups;
      const int64_t groups = are_four ? 4 : takes_groups ? int64_t{kGroups} : 1;
      const int64_t last = HWY_MIN(left - (groups - 1) * kLanes, kLanes);
      const bool is_whole = last == kLanes && (kIsWholeForAllRows || is_one_row);
      const int64_t column = columns.first + n;
      if constexpr (kHasFourGroups<Element, T>) {
        if (are_four) AddSquares<4, 1, true, Element>(block, column, last, sums + n, columns.row_step);
      }
      if constexpr (kKeepsSumsOfRows<Element, T>) {
        if (takes_groups && !is_whole) {
          AddSquares<kGroups, 1, false, Element>(block, column, last, sums + n, columns.row_step);
        }
      }
      if constexpr (kGroups > 1) {
        if (takes_groups && (is_whole || !kKeepsSumsOfRows<Element, T>)) {
          AddSquaresOfRows<kGroups, !kIsLine, Element>(block, column, last, sums + n, columns.row_step);
        }
      }
      if (groups == 1 && is_whole) {
        AddSquaresOfRows<1, true, Element>(block, column, last, sums + n, columns.row_step);
      } else if (groups == 1) {
        AddSquaresOfRows<1, false, Element>(block, column, last, sums + n, columns.row_step);
      }
      const int64_t count = (groups - 1) * kLanes + last;
      if (!rest.IsEmpty()) rest.Add(column, count, sums + n, columns.row_step);
      n += count;
    }
    if (block.k < kLanes) rest.Add(columns.first, columns.count, sums, columns.row_step);
  });
}

template <class Element, class T>
void MultiplyTurned(const Block& block) {
  const bool rows_meet = many_rows_meet(block.b_column_step * int64_t{sizeof(Element)});
  if constexpr (kKeepsSumsOfRows<Element, T>) {
    const RowsOfA<T> a(block, kStaggers<T> && rows_meet && block.staggers_groups);
    return TurnColumns<Element, T>(a.block(), rows_meet);
  }
  TurnColumns<Element, T>(block, rows_meet);
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
