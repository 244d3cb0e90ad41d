// Room: kernels, per target. What a tile reads, and what it has fetched for others.
#if defined(BINET_KERNELS_GEMM_LOOPS_TILE_OPERANDS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_TILE_OPERANDS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_TILE_OPERANDS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_TILE_OPERANDS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/ahead.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// Loops over tiles move numbers and compute none: they are compiled once for all types of a size, as unsigned ones.
template <class T>
using BitsOf = hwy::UnsignedFromSize<sizeof(T)>;

/// Element (row, k) of A is a[row * a_row_step + k * a_column_step]; vector j of row k of B is at
/// b[j / kPanelVectors * b_panel_step + j % kPanelVectors * kLanes + k * b_row_step].
template <class T, class TB>
struct TileOperands {
  const T* a;
  int64_t a_row_step, a_column_step;
  const TB* b;
  int64_t b_panel_step, b_row_step;
  int64_t k;
  bool b_is_whole = true;  ///< all lanes of these vectors may be read; false: ends.last_lanes of a row's last one
  int64_t near = 0;        ///< elements from each vector of B to one that will be read soon, to be fetched with it
  int64_t below = 0;       ///< not 0: low tiles fetch lines that begin so far behind each vector instead
  Ahead far;               ///< for tiles as wide as a panel: what will be read much later
  bool fetches = true;     ///< false: what this tile and the next ones read is near already
  T* packed_b = nullptr;   ///< for tiles that pack what they read of B: its panel (packing_tiles-inl.h)
};

/// Tiles one below the other, or side by side, that one call computes, all of one form (short_tiles-inl.h).
template <class T>
struct ShortTiles {
  int64_t rows;  ///< at least those of a tile
  T* y;          ///< the sums, plus C if there is one
  int64_t y_row_step;
  const T* c;  ///< null: there is none
  int64_t c_row_step;
  bool c_is_column;     ///< one element for each row
  int64_t last_vector;  ///< begins so many columns behind the first, in the one before if not all of them are whole
  bool fetches_rows;    ///< of A and Y, from afar
  /// Not 0: they lie side by side instead, so many columns apart, and panels of B as far as b_panel_step says. For each
  /// of them `rows` counts those of a tile. (Of six rows alone.)
  int64_t columns_apart = 0;
};

/// Of the types that a tile computes with.
template <class T, class TB>
HWY_INLINE TileOperands<T, TB> OperandsOf(const TileOperands<BitsOf<T>, BitsOf<TB>>& bits) {
  return {reinterpret_cast<const T*>(bits.a),
          bits.a_row_step,
          bits.a_column_step,
          reinterpret_cast<const TB*>(bits.b),
          bits.b_panel_step,
          bits.b_row_step,
          bits.k,
          bits.b_is_whole,
          bits.near,
          bits.below,
          bits.far,
          bits.fetches,
          reinterpret_cast<T*>(bits.packed_b)};
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
