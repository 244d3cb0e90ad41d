// Room: kernels, per target. A block of Y: in which order its tiles are computed, and by which type of B.
#if defined(BINET_KERNELS_GEMM_LOOPS_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_BLOCK_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_BLOCK_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/block_loops-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/tiles-inl.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// It stays in the first-level cache.
constexpr int64_t kSmallBBytes = 32 * 1024;

template <class Element, class T, class TB>
HWY_NOINLINE void MultiplyBlockWith(const Block& block, const TileSet<T, TB>& tiles, FinishFunction finish) {
  // A small B stays in the first-level cache whatever the order. So lower and wider tiles are free to choose, or one
  // narrow column of them; and A and Y, if they are too large to stay near, are passed over once.
  using Shape = TileShape<T>;
  constexpr int64_t kNearBytes = 512 * 1024;
  const bool b_is_small = block.n * block.k * int64_t{sizeof(TB)} <= kSmallBBytes;
  const bool is_narrow = block.n <= int64_t{Shape::kPanel};
  const bool is_low = tiles.Of(block.a_panel_rows).wide_vectors > Shape::kPanelVectors;
  const bool is_far = block.m * (block.k + block.n) * int64_t{sizeof(T)} > kNearBytes;
  constexpr int64_t kLeastKOfTallTiles = 128;  // where calls for each of them take no time to speak of
  const bool are_tall = tiles.tall != nullptr && block.n <= int64_t{Shape::kLanes} && block.k >= kLeastKOfTallTiles &&
                        block.fetched != FarOperand::rows_of_a &&
                        !many_rows_meet(block.a_row_step * int64_t{sizeof(T)});
  const bool goes_by_rows = block.goes_by_rows || (b_is_small && (is_narrow || is_low || is_far)) ||
                            BlockLoops<Element, T, TB>::TakesThreeVectors(block, tiles);
  const bool goes_by_panels =
      (block.m > block.a_panel_rows || BlockLoops<Element, T, TB>::FetchesRuns(block)) && !goes_by_rows;
  const BlockLoops<Element, T, TB> loops(block, tiles, finish, goes_by_panels);
  if (are_tall && block.m > block.a_panel_rows && !block.a_is_packed) {
    loops.TallTiles();
  } else if (goes_by_panels) {
    loops.PanelByPanel();
  } else {
    loops.RowsByRows();
  }
}

/// An odd number of whole vectors of columns, and up to half of another, where that takes half of the time. A small B
/// of more than one vector goes by wide tiles as it is.
template <class T>
HWY_INLINE bool EndsInHalf(const Block& block) {
  constexpr auto kPanel = static_cast<int64_t>(TileShape<T>::kPanel);
  constexpr int64_t kLeastRows = 8;
  if (!block.ends_in_halves || block.m < kLeastRows || VectorsBeforeHalf<T>(block.n) % 2 == 0) return false;
  return block.n < kPanel || block.n * block.k * int64_t{sizeof(T)} > kSmallBBytes;
}

/// Two blocks side by side: whole vectors of columns, and half a vector.
template <class T>
void MultiplyWithHalf(const Block& block, const TileSet<T, T>& tiles, FinishFunction finish) {
  constexpr auto kLanes = static_cast<int64_t>(TileShape<T>::kLanes),
                 kPanel = static_cast<int64_t>(TileShape<T>::kPanel);
  const int64_t whole = block.n / kLanes * kLanes;
  Block part = block;
  part.n = whole;
  MultiplyBlockWith<T>(part, tiles, finish);
  part.n = block.n - whole;
  part.column += whole;
  part.b += (whole / kPanel * block.b_panel_step + whole % kPanel) * int64_t{sizeof(T)};
  if (part.sums != nullptr) part.sums += whole * int64_t{sizeof(T)};
  MultiplyBlockWith<T>(part, tiles, finish);
}

template <class Element, class T>
void MultiplyBlock(const Block& block) {
  const FinishFunction finish = &Finish<Element, T>;
  if constexpr (kWidensInTiles<Element, T>) {
    if (!block.b_is_packed || block.b_is_kept)
      return MultiplyBlockWith<BitsOf<Element>>(block, kTileSet<T, Element>, finish);
  }
  if constexpr (kHasHalfVectors<T> && std::is_same_v<Element, T>) {
    if (EndsInHalf<T>(block)) return MultiplyWithHalf(block, kTileSet<T, T>, finish);
  }
  MultiplyBlockWith<BitsOf<Element>>(block, kTileSet<T, T>, finish);
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
