// Room: kernels, per target. Which of the loops over k a tile takes.
#if defined(BINET_KERNELS_GEMM_LOOPS_ALL_OF_K_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ALL_OF_K_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ALL_OF_K_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ALL_OF_K_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/from_memory-inl.h"
#include "kernels/gemm/loops/k_loop-inl.h"
#include "kernels/gemm/loops/tile_operands-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// How many of the last k, fewer than lanes, have rows of B that whole vectors would reach beyond; those of others end
/// in a later row. No more than these should be read under a mask: Zen 5 does not prefetch what such an instruction
/// reads.
template <class T, class TB>
HWY_INLINE int64_t RowsBeforeEnd(const TileOperands<T, TB>& operands, size_t last_lanes) {
  if (operands.b_is_whole) return 0;
  const auto beyond = static_cast<int64_t>(TileShape<T>::kLanes - last_lanes);
  const int64_t step = HWY_MAX(operands.b_row_step, int64_t{1});  // of a single row it may be anything
  return HWY_MIN(beyond <= step ? 1 : (beyond + step - 1) / step, operands.k);
}

/// A loop over the k whose rows of B may be read in whole vectors. The last ones, which must be read under a mask, are
/// left for another loop.
template <Loop kLoop, size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddBeforeEnd(TileOperands<T, TB>& operands, const Row& vectors, size_t last_lanes,
                             V (&sum)[kRows][kVectors]) {
  const int64_t masked = RowsBeforeEnd(operands, last_lanes);
  operands.k -= masked;
  AddProducts<kLoop>(operands, vectors, sum);
  operands.k += masked;
}

/// All of k, of the high tiles of a panel with AVX-512.
template <bool kMayBePacked, size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllFromMemory(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  if constexpr (kMayBePacked && kRows == Shape::kRows && std::is_same_v<T, TB>) {
    constexpr Loop kPacked = {
        .a_rows_touch = true, .b_is_whole = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
    constexpr Loop kPackedFar = {
        .a_rows_touch = true, .b_is_whole = true, .fetches = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
    const bool a_is_packed = operands.a_row_step == 1 && operands.a_column_step == int64_t{Shape::kAWidth};
    if (a_is_packed && operands.b_is_whole && operands.b_row_step == int64_t{Shape::kPanel}) {
      operands.fetches ? AddProducts<kPackedFar>(operands, vectors, sum) : AddProducts<kPacked>(operands, vectors, sum);
    }
  }
  if (operands.b_is_whole && operands.a_row_step == 1) {
    if (operands.fetches) {
      AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true, .fetches = true}>(operands, vectors, sum);
    } else {
      AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true}>(operands, vectors, sum);
    }
    return;
  }
  if (operands.b_is_whole && operands.a_column_step == 1) {
    if (operands.fetches) {
      AddProducts<Loop{.a_columns_touch = true, .b_is_whole = true, .fetches = true, .k = 4}>(operands, vectors, sum);
    } else {
      AddProducts<Loop{.a_columns_touch = true, .b_is_whole = true, .k = 4}>(operands, vectors, sum);
    }
  }
  AddProducts<Loop{}>(operands, vectors, sum);
}

/// The same with AVX2. Tiles that fetch rows of B in place wait for them, whatever the loop, which reads the rows of B
/// that RowsBeforeEnd() counts under a mask, and no others.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllIndexed(TileOperands<T, TB>& operands, const Row& vectors, size_t last_lanes,
                              V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  const int64_t masked = RowsBeforeEnd(operands, last_lanes);
  operands.k -= masked;
  constexpr Loop kPacked = {.b_is_whole = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
  constexpr Loop kPackedFar = {.b_is_whole = true, .fetches = true, .a_is_packed = true, .b_is_packed = true, .k = 4};
  constexpr Loop kPackedAlone = {
      .b_is_whole = true, .fetches = true, .a_is_packed = true, .b_is_packed = true, .is_alone = true, .k = 4};
  constexpr Loop kColumns = {.a_columns_touch = true, .b_is_whole = true, .k = 4};
  constexpr Loop kColumnsFar = {
      .a_columns_touch = true, .b_is_whole = true, .fetches = true, .b_is_packed = true, .k = 4};
  constexpr Loop kColumnsAlone = {
      .a_columns_touch = true, .b_is_whole = true, .fetches = true, .b_is_packed = true, .is_alone = true, .k = 2};
  const bool a_is_packed = operands.a_row_step == 1 && operands.a_column_step == int64_t{Shape::kAWidth};
  const bool b_is_packed = operands.b_row_step == int64_t{Shape::kPanel};
  if (a_is_packed && b_is_packed) {
    if (kRows == Shape::kRows && operands.fetches && operands.far.is_alone) {
      AddProducts<kPackedAlone>(operands, vectors, sum);
    } else if (operands.fetches) {
      AddProducts<kPackedFar>(operands, vectors, sum);
    } else {
      AddProducts<kPacked>(operands, vectors, sum);
    }
  } else if (operands.a_column_step == 1) {
    if (!operands.fetches) {
      AddProducts<kColumns>(operands, vectors, sum);
    } else if (kRows == Shape::kRows && b_is_packed && operands.far.is_alone) {
      AddProducts<kColumnsAlone>(operands, vectors, sum);
    } else if (b_is_packed) {
      AddProducts<kColumnsFar>(operands, vectors, sum);
    }
  } else if (operands.a_row_step == 1 && !operands.fetches) {
    AddProducts<Loop{.a_rows_touch = true, .b_is_whole = true}>(operands, vectors, sum);
  }
  operands.k += masked;
  AddProducts<Loop{.fetches = true}>(operands, vectors, sum);  // what is left of k, or all of it
}

/// Integers whose product is a multiplication and an addition keep nearly all of a core's units busy, and have none to
/// spare for other instructions. The highest tiles, of which large products consist, have a loop with few of them.
template <size_t kRows, class T, class TB>
constexpr bool kHasLoopOfPacked = HWY_TARGET == HWY_AVX3 && !hwy::IsFloat<T>() && std::is_same_v<T, TB> && kRows >= 11;

/// The same of a B that is widened on the way, with A in lines if B is packed.
template <size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllWidened(TileOperands<T, TB>& operands, const Row& vectors, V (&sum)[kRows][kVectors]) {
  constexpr Loop kLines = {.a_columns_touch = true, .b_is_whole = true, .fetches = true, .b_is_packed = true, .k = 4};
  const bool b_is_packed = operands.b_is_whole && operands.b_row_step == int64_t{TileShape<T>::kPanel};
  if (kPinsRegisters<T> && b_is_packed && operands.a_column_step == 1 && operands.fetches) {
    AddProducts<kLines>(operands, vectors, sum);
  }
  if constexpr (kHasLoopOfPacked<kRows, T, TB>) {
    constexpr Loop kPacked = {.b_is_whole = true, .fetches = true, .a_is_packed = true, .b_is_packed = true};
    const bool a_is_packed = operands.a_row_step == 1 && operands.a_column_step == int64_t{TileShape<T>::kAWidth};
    if (a_is_packed && b_is_packed && operands.fetches) AddProducts<kPacked>(operands, vectors, sum);
  }
  if (operands.fetches) {
    AddProducts<Loop{.fetches = true}>(operands, vectors, sum);
  } else {
    AddProducts<Loop{}>(operands, vectors, sum);
  }
}

/// All of k of a narrow tile. It reads those rows from a copy, by the same loop. kAreTall: of one below the other.
template <bool kAreTall, class Row, class T, class V, size_t kRows>
HWY_INLINE void AddAllOfNarrow(TileOperands<T, T> operands, const Row& vectors, size_t last_lanes, V (&sum)[kRows][1]) {
  constexpr size_t kLanes = TileShape<T>::kLanes;
  alignas(64) T copy[(kLanes - 1) * kLanes];
  int64_t copied = RowsBeforeEnd(operands, last_lanes);
  operands.k -= copied;
  const T* row = operands.b + operands.k * operands.b_row_step;
  HWY_UNROLL(1)
  for (int64_t i = 0; i < copied; ++i, row += operands.b_row_step) {
    StoreAny(vectors.Load(row, true), hn::DFromV<V>(), copy + i * int64_t{kLanes});
  }
  for (;; copied = 0) {
    // Each line of A serves four k before other rows have their turn.
    if constexpr (kAreTall && kMultipliesFromMemory<T> && kRows == TileShape<T>::kRows) {
      if (operands.a_column_step == 1) {
        AddProducts<Loop{.a_columns_touch = true, .b_is_whole = true, .k = 4}>(operands, vectors, sum);
      }
    }
    AddProducts<Loop{.b_is_whole = true}>(operands, vectors, sum);
    if (copied == 0) return;
    operands.b = copy;
    operands.b_row_step = kLanes;
    operands.k = copied;
  }
}

/// All of k. A tile of one vector has no load to spare for fetching, and one of three mostly belongs to a product that
/// is near as a whole. Other tiles than the high ones of a panel and, with AVX-512, those of four vectors are few: one
/// loop does for them, and one where the next panel is not worth fetching. `last_lanes`: of a row's last vector.
/// kMayBePacked: A may be, which then has loops of its own; else tiles are one below the other.
template <bool kMayBePacked, size_t kRows, size_t kVectors, class Row, class T, class TB, class V>
HWY_INLINE void AddAllProducts(TileOperands<T, TB> operands, const Row& vectors, [[maybe_unused]] size_t last_lanes,
                               V (&sum)[kRows][kVectors]) {
  using Shape = TileShape<T>;
  constexpr size_t kFewestRows = 5;  // lower ones gain little
  constexpr bool kIsLow = kVectors >= 4 || (kVectors == 3 && kRows > Shape::kRows / 2 && Shape::kHas32Registers);
  constexpr bool kMayFetchBelow = kIsLow && std::is_same_v<T, TB> && !BINET_IS_OLD_TARGET;
  constexpr bool kIsHigh = kVectors == Shape::kPanelVectors && kRows > Shape::kRows / 2 && kRows <= Shape::kRows;
  constexpr bool kIsNarrow = BINET_MASKS_ARE_CHEAP && kVectors == 1 && kRows >= kFewestRows && std::is_same_v<T, TB>;
  if constexpr ((kMultipliesFromMemory<T> || HWY_TARGET == HWY_AVX2) && kVectors == 1 && kRows > Shape::kRows) {
    if (operands.a_column_step == 1) {
      constexpr Loop kColumns = {.a_columns_touch = true, .b_is_whole = true, .k = HWY_TARGET == HWY_AVX2 ? 2 : 4};
      AddBeforeEnd<kColumns>(operands, vectors, last_lanes, sum);
#if HWY_TARGET == HWY_AVX2
    } else if (operands.a_row_step == 1) {
      AddBeforeEnd<Loop{.a_rows_touch = true, .b_is_whole = true}>(operands, vectors, last_lanes, sum);
#endif
    }
    AddProducts<Loop{}>(operands, vectors, sum);
  } else if constexpr (kVectors == 4 && kMultipliesFromMemory<T>) {
    if (kMayFetchBelow && operands.below != 0) {
      AddProducts<Loop{.fetches = true, .fetches_below = kMayFetchBelow}>(operands, vectors, sum);
    } else if (operands.fetches) {
      AddProducts<Loop{.fetches = true}>(operands, vectors, sum);
    } else {
      if (operands.b_is_whole) AddProducts<Loop{.b_is_whole = true, .k = 2}>(operands, vectors, sum);
      AddProducts<Loop{}>(operands, vectors, sum);
    }
  } else if constexpr (kIsNarrow) {
    AddAllOfNarrow<!kMayBePacked>(operands, vectors, last_lanes, sum);
  } else if constexpr (!kIsHigh) {
    if (kMayFetchBelow && operands.below != 0) {
      AddProducts<Loop{.fetches = kMayFetchBelow, .fetches_below = kMayFetchBelow}>(operands, vectors, sum);
    } else {
      if constexpr (HWY_TARGET == HWY_AVX2 && kVectors == 3 && std::is_same_v<T, TB>) {
        AddBeforeEnd<Loop{.b_is_whole = true}>(operands, vectors, last_lanes, sum);
      }
      AddProducts<Loop{.fetches = kVectors != 1 && kVectors != 3}>(operands, vectors, sum);
    }
  } else if constexpr (kMultipliesFromMemory<T>) {
    AddAllFromMemory<kMayBePacked>(operands, vectors, sum);
  } else if constexpr (kPinsRegisters<T> && std::is_same_v<T, TB>) {
    AddAllIndexed(operands, vectors, last_lanes, sum);
  } else {
    AddAllWidened(operands, vectors, sum);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
