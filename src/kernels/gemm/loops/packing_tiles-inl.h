// Room: kernels, per target. B is packed by the first tiles that read it.
//
// They have its vectors in registers already, so that packing takes a store for each instead of a pass of its own. The
// other rows of the block find panels.
#if defined(BINET_KERNELS_GEMM_LOOPS_PACKING_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_PACKING_TILES_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_PACKING_TILES_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_PACKING_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/block_loops-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/pack-inl.h"
#include "kernels/gemm/loops/tiles-inl.h"
#include "kernels/gemm/loops/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Where B may be packed so.
template <class T>
constexpr bool kHasPackingTiles = (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>();

/// Tiles as wide as a panel, of as many rows as products consist of that have several tiles of rows: a lower one has
/// too little to do beside the stores. With AVX2 that is the most that a tile can have.
template <class T>
struct PackingTiles {
  static constexpr size_t kMost = TileShape<T>::kRows, kFewest = HWY_TARGET == HWY_AVX2 ? kMost : kMost / 4 * 3;

  static HWY_INLINE TileFunction<T, T> Of(int64_t rows) {
    return Functions(Rows())[static_cast<size_t>(rows) - kFewest];
  }

 private:
  using Rows = std::make_index_sequence<kMost - kFewest + 1>;

  template <size_t kRows>
  static HWY_NOINLINE void Multiply(const TileOperands<BitsOf<T>, BitsOf<T>>& operands,
                                    const TileEnds<BitsOf<T>>& ends) {
    const hn::ScalableTag<T> d;
    const RowOfVectors<decltype(d)> vectors(d, ends.last_lanes);
    hn::Vec<decltype(d)> sum[kRows][TileShape<T>::kPanelVectors];
    BeginTile(vectors, ends, sum);
    TileOperands<T, T> all = OperandsOf<T, T>(operands);
    AddProducts<Loop{.fetches = true, .stores_b = true}>(all, vectors, sum);
    KeepInRegisters(sum);
    EndTile<T>(vectors, ends, sum);
  }
  template <size_t... kMore>
  static HWY_INLINE const TileFunction<T, T>* Functions(std::index_sequence<kMore...>) {
    static constexpr TileFunction<T, T> kFunctions[] = {&Multiply<kFewest + kMore>...};
    return kFunctions;
  }
};

/// The first tiles of a block, which fill the panels, `packing.to`.
template <class T>
void MultiplyFirstTiles(const Block& block, const Packing& packing) {
  using Shape = TileShape<T>;
  constexpr auto kPanel = static_cast<int64_t>(Shape::kPanel), kLanes = static_cast<int64_t>(Shape::kLanes);
  Block in_place = block;
  in_place.b = packing.from;
  in_place.b_is_packed = false;
  in_place.b_row_step = packing.k_step;
  in_place.b_panel_step = kPanel;
  auto* panel = reinterpret_cast<BitsOf<T>*>(packing.to);
  for (int64_t n = 0; n < block.n; n += kPanel, panel += packing.panel_step) {
    const Place place = {0, n, block.a_panel_rows, HWY_MIN(kPanel, block.n - n)};
    auto operands = OperandsAt<BitsOf<T>, BitsOf<T>>(in_place, 0, n, kPanel);
    operands.packed_b = panel;
    Tile<BitsOf<T>, BitsOf<T>> tile = {PackingTiles<T>::Of(place.rows), Shape::kPanelVectors};
    if (place.columns <= kLanes) {
      Packing last = packing;
      last.from = reinterpret_cast<const std::byte*>(operands.b);
      last.lanes = place.columns;
      last.to = reinterpret_cast<std::byte*>(panel);
      Pack<Shape::kPanel, T, T>(last);
      operands.b = panel;
      operands.b_row_step = kPanel;
      tile = {TilesFor<T, T>(place.rows).narrow, 1};
    }
    ComputeTile<BitsOf<T>>(block, tile, operands, place, true, &Finish<T, T>);
  }
}

/// `packing` is that of all columns of the block; B's columns lie side by side.
template <class T>
void PackAndMultiply(const Block& block, const Packing& packing) {
  const int64_t rows = block.a_panel_rows;
  Block rest = block;
  if (rows < int64_t{PackingTiles<T>::kFewest} || rows > block.m) {
    Pack<TileShape<T>::kPanel, T, T>(packing);
  } else {
    MultiplyFirstTiles<T>(block, packing);
    rest.m -= rows;
    if (rest.m == 0) return;
    rest.row += rows;
    rest.a += (block.a_is_packed ? block.a_panel_step : rows * block.a_row_step) * int64_t{sizeof(T)};
    if (rest.sums != nullptr) rest.sums += rows * block.sums_row_step * int64_t{sizeof(T)};
  }
  MultiplyBlock<T, T>(rest);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
