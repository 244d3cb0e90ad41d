// Room: kernels, per target. One row of Y, or a few, and a B that is not packed: B is read once, in the order of
// memory.
//
// Hardware prefetchers follow runs of memory. A tile that goes down all of k sees a piece of each row of B, mostly on
// a page of its own; here some rows of B at a time meet all columns, whose sums wait in the first-level cache.
#if defined(BINET_KERNELS_GEMM_LOOPS_FEW_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_FEW_ROWS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_FEW_ROWS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_FEW_ROWS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/sum_of_halves-inl.h"
#include "kernels/gemm/loops/waiting_sums-inl.h"
#include "kernels/gemm/plan/few_rows.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Rows of Y that there are kernels for. More than two with AVX2, where tiles of few rows are narrow; more than four
/// sums of a column would be loaded and stored too often.
template <class Element, class T>
constexpr size_t kMostFewRows = (HWY_TARGET == HWY_AVX2) && hwy::IsFloat<T>() && std::is_same_v<Element, T> ? 4
                                : sizeof(T) <= 4                                                            ? 2
                                                                                                            : 1;

/// One row, and kManyRowsOfB rows of B.
template <class T, class Element>
constexpr bool kMayTakeManyRowsOfB = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && std::is_same_v<T, Element>;

/// One row, and a B from memory, with AVX2: a line of each of kRowsOfB rows of B before the next line of any comes in
/// 0.8 to 0.95 of the time that several do, and without fetches. (Measured on Zen 3.)
template <class T, class Element>
constexpr bool kTakesLineByLine = (HWY_TARGET == HWY_AVX2) && std::is_same_v<T, Element> &&
                                  (hwy::IsFloat<T>() || sizeof(T) == 4);

/// operands.k rows of B, times those of A, into kVectors vectors of sums of each row. What lies `ahead` of each vector
/// of B is fetched.
template <size_t kRows, size_t kVectors, class Row, class T, class TB>
HWY_INLINE void AddTile(const Row& vectors, const TileOperands<T, TB>& operands, T* sums, int64_t sums_row_step,
                        int64_t ahead) {
  const hn::ScalableTag<T> d;
  constexpr size_t kLanes = hn::MaxLanes(d);
  using V = hn::Vec<decltype(d)>;
  RunningSum<V> sum[kRows][kVectors];
  HWY_UNROLL(4)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (size_t j = 0; j < kVectors; ++j)
      sum[i][j].Begin(hn::Load(d, sums + static_cast<int64_t>(i) * sums_row_step + j * kLanes));
  }
  constexpr int64_t kBytes = sizeof(TB) * kLanes;
  const T* a = operands.a;
  const TB* b = operands.b;
  for (int64_t k = operands.k; k > 0; --k, a += operands.a_column_step, b += operands.b_row_step) {
    V va[kRows];
    HWY_UNROLL(4)
    for (size_t i = 0; i < kRows; ++i) va[i] = hn::Set(d, LoadOne(a + static_cast<int64_t>(i) * operands.a_row_step));
    HWY_UNROLL(8)
    for (size_t j = 0; j < kVectors; ++j) {
      // One line holds several short vectors.
      if (kBytes >= 64 || kVectors == 1 || j % (64 / kBytes) == 0) hwy::Prefetch(b + ahead + j * kLanes);
      const V vb = vectors.Load(b + j * kLanes, kVectors == 1);
      HWY_UNROLL(4)
      for (size_t i = 0; i < kRows; ++i) sum[i][j].Add(va[i], vb);
    }
  }
  HWY_UNROLL(4)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(8)
    for (size_t j = 0; j < kVectors; ++j)
      hn::Store(sum[i][j].End(), d, sums + static_cast<int64_t>(i) * sums_row_step + j * kLanes);
  }
}

/// kRowsOfB rows of B or kManyRowsOfB, as many whole vectors of sums as there are, few at a time: the elements of A
/// stay in registers. Returns the number of columns.
template <size_t kRows, bool kFetches, int64_t kTogether, class T, class TB, class Ahead>
HWY_INLINE int64_t AddWholeVectors(const TileOperands<T, TB>& operands, const WaitingColumns& columns, T* sums,
                                   const Ahead& ahead_of) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  constexpr size_t kVectors = hwy::IsFloat<T>() || HWY_TARGET == HWY_AVX2 ? 2 : 1;
  constexpr int64_t kColumns = kLanes * int64_t{kVectors};
  const RowOfVectors<decltype(d)> vectors(d, TileShape<T>::kLanes);
  V va[kRows][kTogether];
  HWY_UNROLL(2)
  for (size_t i = 0; i < kRows; ++i) {
    const T* a = operands.a + static_cast<int64_t>(i) * operands.a_row_step;
    HWY_UNROLL(16)
    for (int64_t k = 0; k < kTogether; ++k) va[i][k] = hn::Set(d, LoadOne(a + k * operands.a_column_step));
  }
  int64_t n = 0;
  for (; n + kColumns <= columns.count; n += kColumns) {
    RunningSum<V> sum[kRows][kVectors];
    HWY_UNROLL(2)
    for (size_t i = 0; i < kRows; ++i) {
      T* from = sums + static_cast<int64_t>(i) * columns.row_step + n;
      HWY_UNROLL(2)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j].Begin(hn::Load(d, from + j * kLanes));
    }
    const TB* b = operands.b + n;
    const int64_t ahead = ahead_of(n);
    HWY_UNROLL(16)
    for (int64_t k = 0; k < kTogether; ++k, b += operands.b_row_step) {
      HWY_UNROLL(2)
      for (size_t j = 0; j < kVectors; ++j) {
        if constexpr (kFetches) hwy::Prefetch(b + ahead + j * kLanes);
        const V vb = vectors.Load(b + j * kLanes, false);
        HWY_UNROLL(2)
        for (size_t i = 0; i < kRows; ++i) sum[i][j].Add(va[i][k], vb);
      }
    }
    HWY_UNROLL(2)
    for (size_t i = 0; i < kRows; ++i) {
      T* to = sums + static_cast<int64_t>(i) * columns.row_step + n;
      HWY_UNROLL(2)
      for (size_t j = 0; j < kVectors; ++j) hn::Store(sum[i][j].End(), d, to + j * kLanes);
    }
  }
  return n;
}

/// The same for all columns.
template <size_t kRows, class T, class TB>
HWY_NOINLINE void AddRowsOfB(TileOperands<T, TB> operands, const WaitingColumns& columns, T* sums) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  // In front of a row's end, of the row that follows kRowsOfB later.
  const auto ahead_of = [near = operands.near, count = columns.count, b_row_step = operands.b_row_step](int64_t n)
                            HWY_ATTR { return n + near < count ? near : near + kRowsOfB * b_row_step - count; };
  int64_t n = 0;
  if constexpr (HWY_TARGET == HWY_AVX3) {
    if (operands.k == kRowsOfB) {
      n = operands.near != 0 ? AddWholeVectors<kRows, true, kRowsOfB>(operands, columns, sums, ahead_of)
                             : AddWholeVectors<kRows, false, kRowsOfB>(operands, columns, sums, ahead_of);
    }
    if constexpr (kRows == 1 && kMayTakeManyRowsOfB<T, TB>) {
      if (operands.k == kManyRowsOfB) n = AddWholeVectors<1, false, kManyRowsOfB>(operands, columns, sums, ahead_of);
    }
    operands.b += n;
  } else if constexpr (kRows == 1 && kTakesLineByLine<T, TB>) {
    if (operands.near == 0 && operands.k == kRowsOfB) {
      n = AddWholeVectors<1, false, kRowsOfB>(operands, columns, sums, ahead_of);
      operands.b += n;
    }
  }
  constexpr auto kVectors = HWY_TARGET == HWY_AVX3 ? 1 : static_cast<int64_t>(TileShape<T>::WideVectors(kRows));
  const RowOfVectors<decltype(d)> whole(d, TileShape<T>::kLanes);
  if constexpr (kVectors > 1)
    for (; n + kVectors * kLanes <= columns.count; n += kVectors * kLanes, operands.b += kVectors * kLanes) {
      AddTile<kRows, kVectors>(whole, operands, sums + n, columns.row_step, ahead_of(n));
    }
  for (; n < columns.count; n += kLanes, operands.b += kLanes) {
    const RowOfVectors<decltype(d)> last(d, static_cast<size_t>(HWY_MIN(kLanes, columns.count - n)));
    AddTile<kRows, 1>(last, operands, sums + n, columns.row_step, ahead_of(n));
  }
}

/// The same for so many rows, kMost or less.
template <size_t kMost, class T, class TB>
HWY_INLINE void AddRowsOfBTo(int64_t rows, const TileOperands<T, TB>& operands, const WaitingColumns& columns,
                             T* sums) {
  if constexpr (kMost > 1) {
    if (rows < static_cast<int64_t>(kMost)) return AddRowsOfBTo<kMost - 1>(rows, operands, columns, sums);
  }
  AddRowsOfB<kMost>(operands, columns, sums);
}

/// The same for any number of rows, with AVX-512. More than kMostFewRows take turns at so many columns as stay in the
/// first-level cache.
template <class T, class Element>
HWY_INLINE void AddRowsOfBToAll(int64_t rows, bool fetches, TileOperands<T, Element> operands,
                                const WaitingColumns& columns, T* sums) {
  constexpr auto kMost = static_cast<int64_t>(kMostFewRows<Element, T>);
  if (HWY_TARGET != HWY_AVX3) return AddRowsOfBTo<kMostFewRows<Element, T>>(rows, operands, columns, sums);
  constexpr auto kColumnsTogether = static_cast<int64_t>(1024 / sizeof(T));
  const T* const a = operands.a;
  const int64_t together = rows <= kMost ? columns.count : kColumnsTogether;
  // Each of them fetches a part of some rows of what is next but one, if need be of the rows of B that follow.
  const auto fetch = [&, b = operands.b, step = operands.b_row_step](int64_t n, int64_t i) HWY_ATTR {
    const int64_t next = n + 2 * together, first = kRowsOfB * i / rows;
    const Element* from = next < columns.count ? b + next : b + next - columns.count + kRowsOfB * step;
    const int64_t end = kRowsOfB * HWY_MIN(i + kMost, rows) / rows;
    FetchRows(reinterpret_cast<const std::byte*>(from + first * step), step * int64_t{sizeof(Element)}, end - first,
              together * int64_t{sizeof(Element)});
  };
  for (int64_t n = 0; n < columns.count; n += together, operands.b += together) {
    const WaitingColumns some = {columns.first + n, HWY_MIN(together, columns.count - n), columns.row_step};
    operands.a = a;
    for (int64_t i = 0; i < rows; i += kMost, operands.a += kMost * operands.a_row_step) {
      if (fetches) fetch(n, i);
      AddRowsOfBTo<kMostFewRows<Element, T>>(HWY_MIN(kMost, rows - i), operands, some, sums + i * columns.row_step + n);
    }
  }
}

/// The same for one row, with as many rows of B as there are, one after the other: B is one run of memory, of which
/// lines are fetched operands.near ahead.
template <bool kFetches, class T, class TB>
HWY_NOINLINE void AddRowAfterRow(const TileOperands<T, TB>& operands, int64_t count, T* sums) {
  const hn::ScalableTag<T> d;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  constexpr int64_t kTogether = 4 * kLanes;
  const int64_t whole = count / kLanes * kLanes;
  const RowOfVectors<decltype(d)> vectors(d, static_cast<size_t>(count - whole));
  // Copies: as far as compilers know, sums might be the steps, which would be loaded anew for each row.
  const int64_t a_step = operands.a_column_step, b_step = operands.b_row_step, ahead = operands.near;
  const T* a = operands.a;
  const TB* b = operands.b;
  for (int64_t k = operands.k; k > 0; --k, a += a_step, b += b_step) {
    const auto factor = hn::Set(d, LoadOne(a));
    const auto add = [&](int64_t n, bool is_last) HWY_ATTR {
      if constexpr (kFetches) hwy::Prefetch(b + n + ahead);
      // Zen 5 does not prefetch what an instruction with a mask reads, as the product of 64-bit integers is.
      const auto row = LoadedOnce(vectors.Load(b + n, is_last));
      hn::Store(MultiplyAdd(factor, row, hn::Load(d, sums + n)), d, sums + n);
    };
    int64_t n = 0;
    for (; n + kTogether <= whole; n += kTogether) {
      HWY_UNROLL(4)
      for (int64_t i = 0; i < kTogether; i += kLanes) add(n + i, false);
    }
    for (; n < whole; n += kLanes) add(n, false);
    if (n < count) add(n, true);
  }
}

/// Columns of B side by side.
template <class Element, class T>
void MultiplyFewRows(const Block& block) {
  TileOperands<T, Element> operands;
  operands.a_row_step = block.a_row_step;
  operands.a_column_step = block.a_column_step;
  operands.b_panel_step = 0;
  operands.b_row_step = block.b_row_step;
  operands.near = block.near_b;
  WithWaitingSums<Element, T>(block, [&](const WaitingColumns& columns, T* sums) HWY_ATTR {
    operands.a = reinterpret_cast<const T*>(block.a);
    operands.b = reinterpret_cast<const Element*>(block.b) + columns.first;
    operands.k = block.k;
    if constexpr (HWY_TARGET == HWY_AVX3) {
      if (block.rows_of_b == 1) {
        return operands.near != 0 ? AddRowAfterRow<true>(operands, columns.count, sums)
                                  : AddRowAfterRow<false>(operands, columns.count, sums);
      }
    }
    for (int64_t left = block.k; left > 0; left -= operands.k) {
      operands.k = left >= block.rows_of_b ? block.rows_of_b : HWY_MIN(kRowsOfB, left);
      AddRowsOfBToAll(block.m, block.fetched == FarOperand::next_rows_of_b, operands, columns, sums);
      operands.a += operands.k * block.a_column_step;
      operands.b += operands.k * block.b_row_step;
    }
  });
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
