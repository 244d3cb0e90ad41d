// Room: kernels, per target. A block of few columns in dot products: which rows and columns go together.
#if defined(BINET_KERNELS_GEMM_DOT_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_DOT_BLOCK_INL_H_
#undef BINET_KERNELS_GEMM_DOT_BLOCK_INL_H_
#else
#define BINET_KERNELS_GEMM_DOT_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/column_dots-inl.h"
#include "kernels/gemm/dots-inl.h"
#include "kernels/gemm/four_dots-inl.h"
#include "kernels/gemm/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// All rows of A and kY columns of B, kX rows at a time.
template <size_t kX, size_t kY, class T, class Element>
HWY_INLINE void DotColumns(const Block& block, const Element* a, const Element* b, T* sums) {
  int64_t m = 0;
  for (; m + int64_t{kX} <= block.m; m += kX) {
    Dots<kX, kY, T, Element>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
  for (; m < block.m; ++m) {
    Dots<1, kY, T, Element>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
}

#if HWY_TARGET == HWY_AVX2
/// As many rows as go kX at a time: how many.
template <size_t kX, size_t kY, class T>
HWY_NOINLINE int64_t DotFour(const Block& block, const T* a, const T* b, T* sums) {
  int64_t m = 0;
  for (; m + int64_t{kX} <= block.m; m += kX) {
    FourDots<kX, kY, T>(a + m * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + m * block.sums_row_step, block.sums_row_step);
  }
  return m;
}

/// As DotBlock.
template <class T>
void DotBlockByFour(const Block& block, const T* a, const T* b, T* sums) {
  // Rows and columns that are passed over four times stay in the first-level cache.
  constexpr int64_t kMostK = 4096 / sizeof(T);
  int64_t n = 0, m = 0;
  const auto columns = [&](int64_t count) HWY_ATTR {
    Block rows = block;
    rows.m -= m;
    const int64_t first = m * block.sums_row_step + n;
    for (int64_t i = 0; i < count && rows.m > 0; ++i) {
      DotColumns<1, 1>(rows, a + m * block.a_row_step, b + (n + i) * block.b_panel_step, sums + first + i);
    }
  };
  if (block.k <= kMostK && block.n == 4) {
    DotFour<1, 4>(block, a, b, sums);
    return;
  }
  for (; block.k <= kMostK && n + 2 <= block.n; n += 2) {
    m = DotFour<2, 2>(block, a, b + n * block.b_panel_step, sums + n);
    columns(2);
  }
  m = 0;
  columns(block.n - n);
}
#endif

/// As DotBlock, for any shape.
template <class Element, class T>
HWY_NOINLINE void DotAnyBlock(const Block& block) {
  constexpr size_t kTogether = DotShape<T>::kTogether;
  const auto* a = reinterpret_cast<const Element*>(block.a);
  const auto* b = reinterpret_cast<const Element*>(block.b);
  auto* sums = reinterpret_cast<T*>(block.sums);
#if HWY_TARGET == HWY_AVX2
  if constexpr (hwy::IsFloat<T>() && std::is_same_v<Element, T>) return DotBlockByFour(block, a, b, sums);
#endif
  int64_t n = 0;
  if constexpr (kTogether == 4) {
    if constexpr (hwy::IsFloat<T>() && std::is_same_v<Element, T>) {
      // A is read once, and as one run, but B for each row: not with one that fills the first-level cache.
      constexpr auto kMostK = static_cast<int64_t>(28 * 1024 / (4 * sizeof(T)));
      if (block.n == 4 && block.k <= kMostK) return DotColumns<1, 4>(block, a, b, sums);
    }
    for (; n + 2 <= block.n; n += 2) DotColumns<2, 2>(block, a, b + n * block.b_panel_step, sums + n);
  }
  for (; n < block.n; ++n) DotColumns<kTogether, 1>(block, a, b + n * block.b_panel_step, sums + n);
}

#if HWY_TARGET == HWY_AVX2
/// Four rows or more, and one column. The last four rows may have been among those before, and have the same sums
/// again.
template <class Column, class Element, class T>
HWY_NOINLINE void DotOneColumn(const Block& block) {
  const Column column(reinterpret_cast<const Element*>(block.b), block.k);
  Block rows = block;
  rows.m = 4;
  for (int64_t m = 0; m < block.m; m += rows.m) {
    const int64_t first = HWY_MIN(m, block.m - rows.m);
    const auto* a = reinterpret_cast<const Element*>(block.a) + first * block.a_row_step;
    auto* sums = reinterpret_cast<T*>(block.sums) + first;
    if (HWY_LIKELY(MultiplyFour(column, a, block.a_row_step, sums))) continue;
    rows.a = reinterpret_cast<const std::byte*>(a);
    rows.sums = reinterpret_cast<std::byte*>(sums);
    DotAnyBlock<Element, T>(rows);
  }
}

/// Null: there is none for the shape, or none that is faster.
template <class Element, class T>
HWY_INLINE void (*FindDotsOfOneColumn(const Block& block))(const Block&) {
  if (block.n != 1 || block.m < 4 || block.sums_row_step != 1) return nullptr;
  constexpr auto kLanes = static_cast<int64_t>(DotShape<T>::kLanes);
  const int64_t vectors = (block.k + kLanes - 1) / kLanes;
  if (vectors == 8) return &DotOneColumn<ShortColumn<8, T, Element>, Element, T>;
  if constexpr (sizeof(T) == 4) {  // of f64 a K that is shorter takes no dots
    if (vectors == 4) return &DotOneColumn<ShortColumn<4, T, Element>, Element, T>;
    if (vectors == 5) return &DotOneColumn<ShortColumn<5, T, Element>, Element, T>;
    if (vectors == 6) return &DotOneColumn<ShortColumn<6, T, Element>, Element, T>;
    if (vectors == 7) return &DotOneColumn<ShortColumn<7, T, Element>, Element, T>;
  }
  return nullptr;
}
#endif

/// Both operands have k side by side: row m of A is at m * a_row_step, column n of B at n * b_panel_step.
template <class Element, class T>
void DotBlock(const Block& block) {
#if HWY_TARGET == HWY_AVX2
  if constexpr (hwy::IsFloat<T>()) {
    if (const auto multiply = FindDotsOfOneColumn<Element, T>(block)) return multiply(block);
  }
#endif
  DotAnyBlock<Element, T>(block);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
