// Room: kernels, per target. A block of few columns in dot products: which rows and columns go together.
#if defined(BINET_KERNELS_GEMM_LOOPS_DOT_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_DOT_BLOCK_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_DOT_BLOCK_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_DOT_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/column_dots-inl.h"
#include "kernels/gemm/loops/dots-inl.h"
#include "kernels/gemm/loops/fetch_run-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// kX rows of A at a time and kY columns of B, all that there are; of A there are that many rows. The last ones may
/// have been among those before, and have the same sums again.
template <size_t kX, size_t kY, class T, class Element>
HWY_INLINE void DotRows(const Block& block, const Element* b, T* sums) {
  constexpr bool kMayFetch = BINET_MASKS_ARE_CHEAP && kY == 1 && hwy::IsFloat<T>() && std::is_same_v<Element, T>;
  const auto* a = reinterpret_cast<const Element*>(block.a);
  for (int64_t m = 0; m < block.m; m += int64_t{kX}) {
    const int64_t first = HWY_MIN(m, block.m - int64_t{kX});
    if (kMayFetch && block.fetched == FarOperand::rows_of_a)
      FetchBehind(a + m * block.a_row_step, int64_t{kX} * block.a_row_step);
    Dots<kX, kY, T, Element>(a + first * block.a_row_step, block.a_row_step, b, block.b_panel_step)
        .Multiply(block.k, sums + first * int64_t{kY});
  }
}

/// As DotBlock, with kY columns.
template <size_t kY, class Element, class T>
HWY_NOINLINE void DotColumns(const Block& block) {
  constexpr size_t kVectors = kBytesOfPartialSums / sizeof(T) / TileShape<T>::kLanes;
  // As many rows as there are registers for, but no more than prefetchers follow. Integers, and with AVX2 16-bit
  // floats, have fewer, which is hardly slower: multiplying and widening takes longer than loads do.
  constexpr size_t kMostVectors = TileShape<T>::kHas32Registers ? 16 : HWY_TARGET == HWY_AVX2 ? 12 : 8;
  constexpr bool kLoadsLimit = hwy::IsFloat<T>() && (TileShape<T>::kHas32Registers || std::is_same_v<Element, T>);
  constexpr size_t kFew = HWY_TARGET == HWY_AVX3 || kY == 2 ? 2 : 1;
  constexpr size_t kMostRows = kY > 1 ? 16 : kLoadsLimit ? 8 : 4;
  constexpr size_t kAsMany = HWY_MIN(HWY_MAX(kMostVectors / (kVectors * kY), size_t{1}), kMostRows);
  constexpr size_t kX = kY == 1 || kLoadsLimit ? kAsMany : kFew;
  const auto* b = reinterpret_cast<const Element*>(block.b);
  auto* sums = reinterpret_cast<T*>(block.sums);
  if constexpr (kX > 2) {
    if (block.m >= int64_t{kX}) return DotRows<kX, kY>(block, b, sums);
  }
  if constexpr (kX > 4 && kY == 1) {
    if (block.m >= 4) return DotRows<4, kY>(block, b, sums);
  }
  if constexpr (kX == 2 || kVectors * kY <= 2) {
    // A row by itself goes twice. Two chains would wait for each other anyway.
    Block rows = block;
    T twice[2 * kY];
    if (block.m == 1) {
      rows.m = 2;
      rows.a_row_step = 0;
    }
    DotRows<2, kY>(rows, b, block.m == 1 ? twice : sums);
    if (block.m == 1) std::memcpy(sums, twice, kY * sizeof(T));
  } else {
    DotRows<1, kY>(block, b, sums);
  }
}

#if HWY_TARGET == HWY_AVX2
/// Four columns that fill the first-level cache, which would be read anew for each row: two of them at a time.
template <class Element, class T>
HWY_NOINLINE void DotLongColumns(const Block& block) {
  // So many rows that they are still in the second-level cache when the next columns come.
  constexpr int64_t kBytes = 192 * 1024, kRows = 6, kMostRows = 16 * kRows;
  const int64_t near_rows = kBytes / (block.k * int64_t{sizeof(Element)}) / kRows * kRows;
  const int64_t rows = HWY_MIN(HWY_MAX(near_rows, kRows), kMostRows);
  T sums[2 * kMostRows];
  Block part = block;
  part.sums = reinterpret_cast<std::byte*>(sums);
  for (int64_t m = 0; m < block.m; m += part.m) {
    part.m = HWY_MIN(rows, block.m - m);
    part.a = reinterpret_cast<const std::byte*>(reinterpret_cast<const Element*>(block.a) + m * block.a_row_step);
    for (int64_t n = 0; n < 4; n += 2) {
      part.b = reinterpret_cast<const std::byte*>(reinterpret_cast<const Element*>(block.b) + n * block.b_panel_step);
      DotColumns<2, Element, T>(part);
      T* to = reinterpret_cast<T*>(block.sums) + m * 4 + n;
      for (int64_t i = 0; i < part.m; ++i) std::memcpy(to + 4 * i, sums + 2 * i, 2 * sizeof(T));
    }
  }
}
#endif

/// As DotBlock, for any shape.
template <class Element, class T>
void DotAnyBlock(const Block& block) {
#if BINET_IS_OLD_TARGET
  // One sum at a time: not worth the library's size.
  const auto* b = reinterpret_cast<const Element*>(block.b);
  auto* sums = reinterpret_cast<T*>(block.sums);
  for (int64_t m = 0; m < block.m; ++m) {
    const auto* a = reinterpret_cast<const Element*>(block.a) + m * block.a_row_step;
    for (int64_t n = 0; n < block.n; ++n) {
      Dots<1, 1, T, Element>(a, 0, b + n * block.b_panel_step, 0).Multiply(block.k, sums++);
    }
  }
#else
  if (block.n == 1) return DotColumns<1, Element, T>(block);
  if (block.n == 2) return DotColumns<2, Element, T>(block);
  if (block.n == 3) return DotColumns<3, Element, T>(block);
#if HWY_TARGET == HWY_AVX2
  constexpr auto kMostK = static_cast<int64_t>(28 * 1024 / (4 * sizeof(Element)));
  if (block.k > kMostK) return DotLongColumns<Element, T>(block);
#endif
  DotColumns<4, Element, T>(block);
#endif
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
    DotColumns<1, Element, T>(rows);
  }
}

/// Null: there is none for the shape, or none that is faster.
template <class Element, class T>
HWY_INLINE void (*FindDotsOfOneColumn(const Block& block))(const Block&) {
  if (block.n != 1 || block.m < 4 || block.sums_row_step != 1) return nullptr;
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
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
#elif HWY_TARGET == HWY_AVX3
/// Null: there is none for the shape, or lines are fetched.
template <class Element, class T>
HWY_INLINE void (*FindDotsOfOneColumn(const Block& block))(const Block&) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes);
  if constexpr (std::is_same_v<Element, T>) {
    if (block.n != 1 || block.m < kLanes || block.fetched == FarOperand::rows_of_a) return nullptr;
    const int64_t vectors = (block.k + kLanes - 1) / kLanes;
    if (vectors == 4) return &DotColumnInRegisters<4, T>;
    if constexpr (sizeof(T) == 4) {  // of f64 a K that is shorter takes no dots
      if (vectors == 3) return &DotColumnInRegisters<3, T>;
      if (vectors == 2) return &DotColumnInRegisters<2, T>;
    }
  }
  return nullptr;
}
#endif

/// One to four columns of B. Both operands have k side by side: row m of A is at m * a_row_step, column n of B at
/// n * b_panel_step. The sums of a row lie behind those of the row before.
template <class Element, class T>
void DotBlock(const Block& block) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (hwy::IsFloat<T>()) {
    if (const auto multiply = FindDotsOfOneColumn<Element, T>(block)) return multiply(block);
  }
#endif
  DotAnyBlock<Element, T>(block);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
