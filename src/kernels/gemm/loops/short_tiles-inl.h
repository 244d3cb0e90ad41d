// Room: kernels, per target. Many tiles in one call, with AVX2, for products whose K is so short that what stands
// around a tile's multiply-adds counts: nothing is chosen from tile to tile.
//
// Where two threads share a core, a product in the first-level cache costs its number of instructions, whatever they
// are. Twelve multiply-adds are 20 of them in a tile of 3 x 4 or 4 x 3, and 21 in one of 6 x 2; what stands around a
// tile is half as much, where each is chosen.
#if defined(BINET_KERNELS_GEMM_LOOPS_SHORT_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_SHORT_TILES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_SHORT_TILES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_SHORT_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/elements-inl.h"
#include "kernels/gemm/loops/fetch_run-inl.h"
#include "kernels/gemm/loops/four_by_three-inl.h"
#include "kernels/gemm/loops/rows_by_two-inl.h"
#include "kernels/gemm/loops/three_by_four-inl.h"
#include "kernels/gemm/loops/tile_operands-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX2

/// Operands are as those of one tile, the vectors of a row of B side by side and all their lanes to be read. Rows that
/// make no whole tile begin with some of the tile above, as the last vector does.
template <size_t kRows, size_t kVectors, class T>
HWY_NOINLINE void MultiplyShortTiles(const TileOperands<BitsOf<T>, BitsOf<T>>& bits,
                                     const ShortTiles<BitsOf<T>>& tiles) {
  const auto operands = OperandsOf<T, T>(bits);
  auto* y = reinterpret_cast<T*>(tiles.y);
  const auto* c = reinterpret_cast<const T*>(tiles.c);
  const int64_t y_row_step = tiles.y_row_step, c_row_step = tiles.c_row_step, last = tiles.last_vector;
  const bool c_is_column = tiles.c_is_column, fetches_rows = tiles.fetches_rows;
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t a_row_bytes = operands.a_row_step * int64_t{sizeof(T)};
  const int64_t b_row_bytes = operands.b_row_step * int64_t{sizeof(T)};
  const int64_t last_bytes = last * int64_t{sizeof(T)};
  const auto place = [last, d](size_t j)
                         HWY_ATTR { return j + 1 < kVectors ? static_cast<int64_t>(j * hn::Lanes(d)) : last; };
  // From one tile to the next; of Y and C from the row below it.
  constexpr bool kMayLieSideBySide = kRows == 6;
  const int64_t columns_apart = kMayLieSideBySide ? tiles.columns_apart : 0;
  const bool is_below = columns_apart == 0;
  const int64_t a_step = is_below ? int64_t{kRows} * operands.a_row_step : 0;
  const int64_t b_step = is_below ? 0 : operands.b_panel_step;
  const int64_t y_step = is_below ? 0 : columns_apart - int64_t{kRows} * y_row_step;
  const int64_t c_step = is_below || c == nullptr ? 0 : (c_is_column ? 0 : columns_apart) - int64_t{kRows} * c_row_step;
  const T* a_of_tile = operands.a;
  const T* b_of_tile = operands.b;
  for (int64_t rows = tiles.rows; rows > 0; rows -= kRows, a_of_tile += a_step) {
    if (rows < int64_t{kRows}) {
      int64_t again = int64_t{kRows} - rows;
      asm("" : "+r"(again));  // GCC else keeps all three distances, and counts them down from tile to tile
      a_of_tile -= again * operands.a_row_step;
      y -= again * y_row_step;
      c -= again * c_row_step;
    }
    if (HWY_UNLIKELY(fetches_rows)) {
      FetchBehind<kBytesAheadOfTiles>(a_of_tile, int64_t{kRows} * operands.a_row_step);
      FetchBehind<2048>(y, int64_t{kRows} * y_row_step);
    }
    V sum[kRows][kVectors];
    HWY_UNROLL(6)
    for (size_t i = 0; i < kRows; ++i) {
      HWY_UNROLL(4)
      for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Zero(d);
    }
    const T* a = a_of_tile;
    const T* b = b_of_tile;
    int64_t k = operands.k;
    if (operands.a_column_step == 1) {
      for (; k >= 4; k -= 4, a += 4) {
        AddOneK<0>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<1>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<2>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
        AddOneK<3>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
      }
    }
    for (; k > 0; --k, a += operands.a_column_step) AddOneK<0>(a, a_row_bytes, b, b_row_bytes, last_bytes, sum);
    if (c_is_column) {
      HWY_UNROLL(6)
      for (size_t i = 0; i < kRows; ++i, c += c_row_step) {
        const V same = hn::Set(d, LoadOne(c));
        HWY_UNROLL(4)
        for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Add(sum[i][j], same);
      }
    } else if (c != nullptr) {
      HWY_UNROLL(6)
      for (size_t i = 0; i < kRows; ++i, c += c_row_step) {
        HWY_UNROLL(4)
        for (size_t j = 0; j < kVectors; ++j) sum[i][j] = hn::Add(sum[i][j], hn::LoadU(d, c + place(j)));
      }
    }
    HWY_UNROLL(6)
    for (size_t i = 0; i < kRows; ++i, y += y_row_step) {
      HWY_UNROLL(4)
      for (size_t j = 0; j < kVectors; ++j) hn::StoreU(sum[i][j], d, y + place(j));
    }
    if constexpr (kMayLieSideBySide) {
      b_of_tile += b_step;
      y += y_step;
      c += c_step;
    }
  }
}

#endif

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
