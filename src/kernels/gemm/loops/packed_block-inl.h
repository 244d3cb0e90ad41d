// Room: kernels, per target. The loops over a block for kernels that pack both operands into a form of their own, and
// their entries in the table.
//
// `Tiles` gives T, the accumulator; kRows, kPanelVectors, kLanes, kAWidth; and a tile function for each number of rows
// up to kRows and of vectors up to kPanelVectors: Multiply<rows, vectors>.
#if defined(BINET_KERNELS_GEMM_LOOPS_PACKED_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_PACKED_BLOCK_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_PACKED_BLOCK_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_PACKED_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/block-inl.h"
#include "kernels/gemm/loops/finish-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

template <class Tiles, size_t kVectors, size_t... kRowsLessOne>
HWY_INLINE auto PackedTileOf(int64_t rows, std::index_sequence<kRowsLessOne...>) {
  using T = typename Tiles::T;
  static constexpr TileFunction<T, T> kTiles[] = {&Tiles::template Multiply<kRowsLessOne + 1, kVectors>...};
  return kTiles[static_cast<size_t>(rows) - 1];
}

template <class Tiles>
HWY_INLINE auto ChoosePackedTile(int64_t rows, int64_t columns_left) {
  using T = typename Tiles::T;
  static_assert(Tiles::kPanelVectors == 2);
  constexpr auto kAllRows = std::make_index_sequence<Tiles::kRows>();
  if (columns_left <= int64_t{Tiles::kLanes}) return Tile<T, T>{PackedTileOf<Tiles, 1>(rows, kAllRows), 1};
  return Tile<T, T>{PackedTileOf<Tiles, 2>(rows, kAllRows), 2};
}

/// Every panel of B meets all rows.
template <class Tiles>
void MultiplyPackedBlock(const Block& block) {
  using T = BitsOf<typename Tiles::T>;
  const auto* b = reinterpret_cast<const T*>(block.b);
  for (int64_t n = 0; n < block.n; n += Tiles::kPanel, b += block.b_panel_step) {
    const int64_t columns = HWY_MIN(int64_t{Tiles::kPanel}, block.n - n);
    const auto* a = reinterpret_cast<const T*>(block.a);
    for (int64_t m = 0; m < block.m; m += block.a_panel_rows, a += block.a_panel_step) {
      const int64_t rows = HWY_MIN(block.a_panel_rows, block.m - m);
      PrefetchSums<sizeof(T), T>(block, m + block.a_panel_rows, n);
      const TileOperands<T, T> operands = {
          a, 1, block.a_column_step, b, block.b_panel_step, block.b_row_step, block.k, true, {}, {}};
      ComputeTile<T>(block, ChoosePackedTile<Tiles>(rows, columns), operands, {m, n, rows, columns}, false,
                     &Finish<typename Tiles::T, typename Tiles::T>);
    }
  }
}

/// The entry of such kernels, without their way of packing; `in_place` serves operands that are read where they lie.
template <class Tiles>
constexpr Kernels MakePackedKernels(const Kernels& in_place) {
  Kernels kernels = in_place;
  kernels.in_place = &in_place;
  kernels.mr = Tiles::kRows;
  kernels.nr = Tiles::kPanel;
  kernels.a_width = Tiles::kAWidth;
  kernels.multiply = &MultiplyPackedBlock<Tiles>;
  return kernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
