// Room: kernels, per target. The two inner loops: a block of Y in tiles, with edges and the last step.
#if defined(BINET_KERNELS_GEMM_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_BLOCK_INL_H_
#undef BINET_KERNELS_GEMM_BLOCK_INL_H_
#else
#define BINET_KERNELS_GEMM_BLOCK_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/finish-inl.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/microkernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- which tiles there are

template <class T, class TB>
using TileFunction = void (*)(const TileOperands<T, TB>&, const T*, int64_t, T*, int64_t, size_t);

/// Rows of the smallest tile for that many, or of the largest one that has no more.
template <class T>
HWY_INLINE size_t TileRows(size_t rows, bool may_pad) {
  constexpr size_t kRows[] = {1, 2, 4, TileShape<T>::kRows == 12 ? 8 : 4, TileShape<T>::kRows};
  size_t best = 1;
  for (const size_t candidate : kRows) {
    if (may_pad && candidate >= rows) return candidate;
    if (candidate <= rows) best = candidate;
  }
  return best;
}

template <size_t kVectors, class T, class TB>
TileFunction<T, TB> TileOf(size_t rows) {
  switch (rows) {
    case 1:
      return &MultiplyTile<1, kVectors, T, TB>;
    case 2:
      return &MultiplyTile<2, kVectors, T, TB>;
    case 4:
      return &MultiplyTile<4, kVectors, T, TB>;
    case 8:
      if constexpr (TileShape<T>::kRows == 12) return &MultiplyTile<8, kVectors, T, TB>;
      [[fallthrough]];
    default:
      return &MultiplyTile<TileShape<T>::kRows, kVectors, T, TB>;
  }
}

template <class T, class TB>
TileFunction<T, TB> WideTileOf(size_t rows) {
  using Shape = TileShape<T>;
  switch (rows) {
    case 1:
      return &MultiplyTile<1, Shape::WideVectors(1), T, TB>;
    case 2:
      return &MultiplyTile<2, Shape::WideVectors(2), T, TB>;
    case 4:
      return &MultiplyTile<4, Shape::WideVectors(4), T, TB>;
    default:
      return TileOf<Shape::kPanelVectors, T, TB>(rows);
  }
}

/// A tile's function and its width in columns.
template <class T, class TB>
struct Tile {
  TileFunction<T, TB> function;
  size_t columns;
};

template <class T, class TB>
HWY_INLINE Tile<T, TB> ChooseTile(size_t rows, int64_t columns_left, bool wide) {
  using Shape = TileShape<T>;
  if (columns_left <= static_cast<int64_t>(Shape::kLanes)) return {TileOf<1, T, TB>(rows), Shape::kLanes};
  const size_t wide_columns = Shape::WideVectors(rows) * Shape::kLanes;
  if (wide && columns_left >= static_cast<int64_t>(wide_columns)) return {WideTileOf<T, TB>(rows), wide_columns};
  return {TileOf<Shape::kPanelVectors, T, TB>(rows), Shape::kPanel};
}

// ---- one tile

template <class T>
void CopyRows(const T* from, int64_t from_row_step, T* to, int64_t to_row_step, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows; ++i, from += from_row_step, to += to_row_step) {
    std::memcpy(to, from, columns * sizeof(T));
  }
}

/// `rows` rows from m on, and the columns of `tile` from n on, of which `columns` exist.
template <class Element, class T, class TB>
HWY_INLINE void ComputeTile(const Block& block, const Tile<T, TB>& tile, const TileOperands<T, TB>& operands, int64_t m,
                            size_t rows, int64_t n, size_t columns) {
  constexpr size_t kLargest = HWY_MAX(TileShape<T>::kRows * TileShape<T>::kPanel, 16 * TileShape<T>::kLanes);
  alignas(64) T buffer[kLargest];
  const auto buffer_step = static_cast<int64_t>(tile.columns);
  const int64_t step = block.sums_row_step;
  T* sums = block.sums == nullptr ? nullptr : reinterpret_cast<T*>(block.sums) + m * step + n;

  if (columns < tile.columns) {
    if (!block.first) CopyRows(sums, step, buffer, buffer_step, rows, columns);
    tile.function(operands, block.first ? nullptr : buffer, buffer_step, buffer, buffer_step, rows);
    if (!block.last) return CopyRows(buffer, buffer_step, sums, step, rows, columns);
  } else {
    const T* from = block.first ? nullptr : sums;
    if (!block.last) return tile.function(operands, from, step, sums, step, rows);
    const Output& output = *block.output;
    if constexpr (std::is_same_v<Element, T>) {
      if (block.scale->keeps_sums() && output.y_column_step == 1) {
        T* y = reinterpret_cast<T*>(output.y) + (block.row + m) * output.y_row_step + block.column + n;
        return tile.function(operands, from, step, y, output.y_row_step, rows);
      }
    }
    tile.function(operands, from, step, buffer, buffer_step, rows);
  }
  FinishTile<Element>(buffer, buffer_step, static_cast<int64_t>(rows), static_cast<int64_t>(columns), *block.output,
                      block.row + m, block.column + n, *block.scale);
}

// ---- the loops

template <class Element, class T, class TB>
class BlockLoops {
 public:
  explicit BlockLoops(const Block& block) : block_(block) {}

  /// Every panel of B meets all rows while it is in the first-level cache.
  void PanelByPanel() const {
    for (int64_t n = 0; n < block_.n; n += Shape::kPanel) {
      for (int64_t m = 0; m < block_.m; m += block_.a_panel_rows) {
        const size_t rows = static_cast<size_t>(HWY_MIN(block_.a_panel_rows, block_.m - m));
        Prefetch(m + block_.a_panel_rows, n);
        Compute(ChooseTile<T, TB>(TileRows<T>(rows, block_.a_is_packed), block_.n - n, false), m, rows, n);
      }
    }
  }

  /// Few rows, or a small B: each tile of rows takes the widest tiles it can.
  void RowsByRows() const {
    int64_t m = 0;
    while (m < block_.m) {
      size_t rows = static_cast<size_t>(HWY_MIN(block_.a_panel_rows, block_.m - m));
      const size_t tile_rows = TileRows<T>(rows, block_.a_is_packed);
      rows = HWY_MIN(rows, tile_rows);
      int64_t n = 0;
      while (n < block_.n) {
        const auto tile = ChooseTile<T, TB>(tile_rows, block_.n - n, true);
        Compute(tile, m, rows, n);
        n += static_cast<int64_t>(tile.columns);
      }
      m += static_cast<int64_t>(rows);
    }
  }

 private:
  using Shape = TileShape<T>;

  /// The rows of Y, or of sums, under a tile lie on pages of their own, where no hardware prefetcher follows.
  HWY_INLINE void Prefetch(int64_t m, int64_t n) const {
    const Output& output = *block_.output;
    const bool is_y = block_.sums == nullptr;
    const int64_t size = is_y ? sizeof(Element) : sizeof(T);
    const int64_t step = (is_y ? output.y_row_step : block_.sums_row_step) * size;
    const std::byte* row =
        is_y ? output.y + (block_.row + m) * step + (block_.column + n) * size : block_.sums + m * step + n * size;
    for (int64_t rows = HWY_MIN(block_.a_panel_rows, block_.m - m); rows > 0; --rows, row += step) {
      for (size_t i = 0; i < Shape::kPanel * static_cast<size_t>(size); i += 64) hwy::Prefetch(row + i);
    }
  }

  HWY_INLINE void Compute(const Tile<T, TB>& tile, int64_t m, size_t rows, int64_t n) const {
    const auto* a = reinterpret_cast<const T*>(block_.a);
    const auto* b = reinterpret_cast<const TB*>(block_.b) + n / int64_t{Shape::kPanel} * block_.b_panel_step +
                    n % int64_t{Shape::kPanel};
    a += block_.a_is_packed ? m / block_.a_panel_rows * block_.a_panel_step : m * block_.a_row_step;
    const TileOperands<T, TB> operands = {
        a, block_.a_row_step, block_.a_column_step, b, block_.b_panel_step, block_.b_row_step, block_.k};
    const auto columns = static_cast<size_t>(HWY_MIN(static_cast<int64_t>(tile.columns), block_.n - n));
    ComputeTile<Element>(block_, tile, operands, m, rows, n, columns);
  }

  const Block& block_;
};

template <class Element, class T, class TB>
void MultiplyBlockWith(const Block& block) {
  const BlockLoops<Element, T, TB> loops(block);
  if (block.a_is_packed && block.m > block.a_panel_rows) {
    loops.PanelByPanel();
  } else {
    loops.RowsByRows();
  }
}

template <class Element, class T>
void MultiplyBlock(const Block& block) {
  if (std::is_same_v<Element, T> || block.b_is_packed) {
    MultiplyBlockWith<Element, T, T>(block);
  } else {
    MultiplyBlockWith<Element, T, Element>(block);
  }
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
