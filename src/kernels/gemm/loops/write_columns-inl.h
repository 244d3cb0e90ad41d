// Room: kernels, per target. Columns of B, which lies row by row, are written one after another, for dots-inl.h.
// For few rows of A that would take most of the time if elements were moved one by one.
#if defined(BINET_KERNELS_GEMM_LOOPS_WRITE_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_WRITE_COLUMNS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_WRITE_COLUMNS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_WRITE_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/transpose-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if !BINET_IS_OLD_TARGET

/// kColumns columns of rows that touch. The last vectors may repeat some of those before.
template <size_t kColumns, class Bits>
HWY_INLINE void WriteTouchingRows(const Bits* from, int64_t k, Bits* column, int64_t column_step) {
  const hn::ScalableTag<Bits> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  for (int64_t i = 0; i < k; i += kLanes) {
    const int64_t first = HWY_MIN(i, k - kLanes);
    const Bits* rows = from + first * int64_t{kColumns};
    hn::Vec<decltype(d)> v[kColumns];
    if constexpr (kColumns == 2) hn::LoadInterleaved2(d, rows, v[0], v[1]);
    if constexpr (kColumns == 3) hn::LoadInterleaved3(d, rows, v[0], v[1], v[2]);
    if constexpr (kColumns == 4) hn::LoadInterleaved4(d, rows, v[0], v[1], v[2], v[3]);
    Unrolled<kColumns>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA {
      hn::StoreU(v[j], d, column + static_cast<int64_t>(j) * column_step + first);
    });
  }
}

/// Blocks of 16 bytes, `step` elements apart, the first one lowest.
template <class D, class Bits = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const Bits* from, int64_t step) {
  if constexpr (hn::MaxLanes(d) * sizeof(Bits) == 16) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    constexpr auto kBlocks = static_cast<int64_t>(hn::MaxLanes(half) * sizeof(Bits) / 16);
    return hn::Combine(d, LoadBlocks(half, from + kBlocks * step, step), LoadBlocks(half, from, step));
  }
}

/// As many rows at a time as a vector has lanes, and of them as many columns as a block of 16 bytes has elements; the
/// last rows, and columns if there are so many, may repeat some of those before. Fewer columns are read with what
/// follows them in memory, so that of those `k` leaves out the last row.
template <class Bits>
HWY_INLINE void WriteSquares(const Bits* from, int64_t row_step, int64_t columns, int64_t k, Bits* to,
                             int64_t column_step) {
  constexpr size_t kGroup = 16 / sizeof(Bits);
  constexpr auto kSide = static_cast<int64_t>(kGroup);
  const hn::ScalableTag<Bits> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  for (int64_t i = 0; i < k; i += kLanes) {
    const int64_t first = HWY_MIN(i, k - kLanes);
    for (int64_t n = 0; n < columns; n += kSide) {
      const int64_t column = HWY_MAX(0, HWY_MIN(n, columns - kSide));
      hn::Vec<decltype(d)> v[kGroup];
      Unrolled<kGroup>([&](auto r) HWY_ATTR BINET_INLINE_LAMBDA {
        v[r] = LoadBlocks(d, from + (first + static_cast<int64_t>(r)) * row_step + column, kSide * row_step);
      });
      TransposeBlocks(v);
      Unrolled<kGroup>([&](auto j) HWY_ATTR BINET_INLINE_LAMBDA {
        if (static_cast<int64_t>(j) >= columns) return;
        hn::StoreU(v[j], d, to + (column + static_cast<int64_t>(j)) * column_step + first);
      });
    }
  }
}

/// Of k rows, `row_step` elements apart and at least as many as a vector has lanes, the first `columns`, to column_step
/// elements each.
template <class Bits>
void WriteColumns(const std::byte* b, int64_t row_step, int64_t columns, int64_t k, std::byte* to,
                  int64_t column_step) {
  const auto* from = reinterpret_cast<const Bits*>(b);
  auto* column = reinterpret_cast<Bits*>(to);
  if (row_step == columns) {
    if (columns == 2) return WriteTouchingRows<2>(from, k, column, column_step);
    if (columns == 3) return WriteTouchingRows<3>(from, k, column, column_step);
    if (columns == 4) return WriteTouchingRows<4>(from, k, column, column_step);
  }
  if constexpr (sizeof(Bits) >= 4) {
    if (columns * sizeof(Bits) >= 16) return WriteSquares(from, row_step, columns, k, column, column_step);
    if (columns > 1 && k > static_cast<int64_t>(hn::MaxLanes(hn::ScalableTag<Bits>()))) {
      WriteSquares(from, row_step, columns, k - 1, column, column_step);
      from += (k - 1) * row_step;
      for (int64_t n = 0; n < columns; ++n) std::memcpy(column + n * column_step + k - 1, from + n, sizeof(Bits));
      return;
    }
  }
  for (int64_t n = 0; n < columns; ++n, ++from, column += column_step) {
    HWY_UNROLL(4)
    for (int64_t i = 0; i < k; ++i) {
      const Bits bits = LoadOne(from + i * row_step);
      std::memcpy(column + i, &bits, sizeof(bits));
    }
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
