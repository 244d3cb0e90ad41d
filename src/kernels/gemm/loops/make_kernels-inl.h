// Room: kernels, per target. The table entry of one element type, from the templates.
#if defined(BINET_KERNELS_GEMM_LOOPS_MAKE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_MAKE_KERNELS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_MAKE_KERNELS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_MAKE_KERNELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/at_once-inl.h"
#include "kernels/gemm/loops/block-inl.h"
#include "kernels/gemm/loops/dot_block-inl.h"
#include "kernels/gemm/loops/few_rows-inl.h"
#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/loops/microkernel-inl.h"
#include "kernels/gemm/loops/multiply_turned-inl.h"
#include "kernels/gemm/loops/pack-inl.h"
#include "kernels/gemm/loops/packing_tiles-inl.h"
#include "kernels/gemm/loops/pairs-inl.h"
#include "kernels/gemm/loops/row_of_panels-inl.h"
#include "kernels/gemm/loops/turned_rows-inl.h"
#include "kernels/gemm/loops/write_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// `Element` gives the storage, T the accumulator; `type` also tells signed integers from unsigned ones.
template <class Element, class T>
constexpr Kernels MakeKernels(ElementType type) {
  using Shape = TileShape<T>;
  Kernels kernels;
  kernels.type = type;
  kernels.element_bytes = sizeof(Element);
  kernels.accumulator_bytes = sizeof(T);
  kernels.lanes = Shape::kLanes;
  kernels.mr = Shape::kRows;
  kernels.nr = Shape::kPanel;
  kernels.kc = 512;
  kernels.takes_any_columns = kTakesAnyColumns<Element>;
  kernels.has_short_vectors = HWY_TARGET == HWY_AVX2;
  if (kPrefersWideTiles<Element, T>) kernels.wide_rows = kWideRows;
  kernels.a_width = Shape::kAWidth;
  kernels.is_fused = hwy::IsFloat<T>() && HWY_NATIVE_FMA;
  if (!hwy::IsFloat<T>()) kernels.way = kByHalves<T> ? "32-bit halves" : "multiply, then add";
  // What moves floats moves integers, too, and is in the library once.
  constexpr bool kIsInteger = !hwy::IsFloat<T>();
  using Moved = std::conditional_t<kIsInteger, std::conditional_t<sizeof(T) == 4, float, double>, T>;
  using MovedElement = std::conditional_t<kIsInteger, Moved, Element>;
  kernels.pack_a = &Pack<Shape::kAWidth, Moved, MovedElement>;
  kernels.pack_b = &Pack<Shape::kPanel, Moved, MovedElement>;
  kernels.pack_narrow_b = &Pack<Shape::kLanes, Moved, MovedElement>;
  kernels.kept_bytes = kWidensInTiles<Element, T> ? sizeof(Element) : sizeof(T);
  kernels.pack_kept_b = kernels.pack_b;
  kernels.pack_kept_narrow_b = kernels.pack_narrow_b;
  if constexpr (sizeof(Element) < sizeof(T)) {
    kernels.packs_b = !kWidensInTiles<Element, T>;
    if constexpr (kWidensInTiles<Element, T>) {
      kernels.pack_kept_b = &PackKept<Shape::kPanel, T, Element>;
      kernels.pack_kept_narrow_b = &PackKept<Shape::kLanes, T, Element>;
      kernels.widen = &WidenPacked<T, Element>;
      kernels.most_rows_to_widen_in_tiles = int64_t{4 * Shape::kRows};
    }
    kernels.widen_lines = &WidenLines<T, Element>;
    // Tiles that multiply from memory take fewer instructions where rows touch.
    kernels.least_columns_to_transpose_for = kMultipliesFromMemory<T> ? 640 : std::numeric_limits<int64_t>::max();
  }
  kernels.dots = &DotBlock<Element, T>;
  if constexpr (std::is_same_v<Element, float>) {
    kernels.pairs = &PairBlock;
    kernels.write_pairs = &WritePairs;
  }
  kernels.multiply = &MultiplyBlock<Element, T>;
  if constexpr (kReadsPanelsSideBySide<Element, T>) {
    kernels.multiply_row_of_panels = &MultiplyRowOfPanels<T>;
    kernels.most_last_panels = kMostLastPanels;
  }
  // Without vectors even a small product takes so long that the way to it is not felt. On old CPUs only floats that are
  // computed as they are have this way: for the others it is not worth the library's size.
  constexpr bool kIsFloat = std::is_same_v<Element, T> && hwy::IsFloat<T>();
  if constexpr (HWY_TARGET != HWY_SCALAR && (kIsFloat || !BINET_IS_OLD_TARGET)) {
    kernels.multiply_at_once = &MultiplyAtOnce<Element, T>;
    if constexpr (kKeepsRowOfSums<Element, T>) {
      kernels.most_columns_of_row = int64_t{kMostVectorsOfRow * TileShape<T>::kLanes};
    }
    kernels.most_short_k = int64_t{kMostShortK<Element, T>};
    kernels.most_short_k_of_vector = int64_t{kMostShortKOfVector<Element, T>};
    kernels.widens_all_at_once = sizeof(Element) < sizeof(T) && !kRoundsInTile<Element>;
  }
  if constexpr (std::is_same_v<Element, T> && kHasPackingTiles<T>) kernels.pack_and_multiply = &PackAndMultiply<T>;
#if !BINET_IS_OLD_TARGET
  kernels.write_columns = &WriteColumns<hwy::UnsignedFromSize<sizeof(Element)>>;
  if constexpr (hwy::IsFloat<T>() || sizeof(T) == 4 || kByHalves<T> || HWY_TARGET == HWY_AVX3) {
    kernels.multiply_few_rows = &MultiplyFewRows<Element, T>;
    kernels.most_few_rows = kMostFewRows<Element, T>;
  }
  if constexpr (hwy::IsFloat<T>()) kernels.multiply_turned = &MultiplyTurned<Element, T>;
  if constexpr (std::is_same_v<Element, T>) kernels.turn_rows = &TurnRows<Moved, Moved>;
#endif
  kernels.finish = &Finish<Element, T>;
  return kernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
