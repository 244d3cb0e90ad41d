// Room: kernels, per target. One row of Y, and panels of packed B side by side.
//
// One row does little else than read B. A panel is one run of memory, and the more of them are read at a time, the more
// lines are on their way. Nothing is fetched, as hardware prefetchers follow so few runs by themselves, and a fetch
// takes the slot of a load: on Emerald Rapids eight runs take 0.75 to 0.95 of the time of a tile, which reads four and
// fetches, from the second-level cache, and 0.97 from memory.
//
// A narrow panel, of one vector, has a single chain of multiply-adds, whose latency would take as long by itself as two
// wide panels do. Here its multiply-adds wait while those of its neighbours go on.
#if defined(BINET_KERNELS_GEMM_LOOPS_ROW_OF_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_ROW_OF_PANELS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_ROW_OF_PANELS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_ROW_OF_PANELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/tile_ends-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/loops/waiting_sums-inl.h"
#include "kernels/gemm/portions.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Element, class T>
constexpr bool kReadsPanelsSideBySide = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && std::is_same_v<Element, T>;

/// Together with a narrow one.
constexpr int64_t kMostLastPanels = 4;

/// Adds the products to the sums of kWide wide panels from b on, and of a narrow one.
template <int64_t kWide, bool kHasNarrow, class T>
HWY_NOINLINE void AddPanels(const Block& block, const T* b, T* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  using Shape = TileShape<T>;
  constexpr size_t kWideVectors = size_t{kWide} * Shape::kPanelVectors, kVectors = kWideVectors + (kHasNarrow ? 1 : 0);
  V sum[kVectors];
  HWY_UNROLL(17)
  for (size_t j = 0; j < kVectors; ++j) sum[j] = hn::Load(d, sums + j * Shape::kLanes);
  const auto* a = reinterpret_cast<const T*>(block.a);
  const auto* narrow = reinterpret_cast<const T*>(block.narrow_b);
  const int64_t a_step = block.a_column_step, panel_step = block.b_panel_step;
  for (int64_t k = block.k; k > 0; --k, a += a_step, b += Shape::kPanel) {
    const V of_a = hn::Set(d, LoadOne(a));
    HWY_UNROLL(16)
    for (size_t j = 0; j < kWideVectors; ++j) {
      const auto panel = static_cast<int64_t>(j / Shape::kPanelVectors);
      const T* const from = b + panel * panel_step + j % Shape::kPanelVectors * Shape::kLanes;
      sum[j] = MultiplyAdd(of_a, hn::LoadU(d, from), sum[j]);
    }
    if constexpr (kHasNarrow) {
      sum[kWideVectors] = MultiplyAdd(of_a, hn::LoadU(d, narrow), sum[kWideVectors]);
      narrow += Shape::kLanes;
    }
  }
  HWY_UNROLL(17)
  for (size_t j = 0; j < kVectors; ++j) hn::Store(sum[j], d, sums + j * Shape::kLanes);
}

/// Columns of wide panels; or of one to kMostLastPanels of them, and of a narrow one.
template <class T>
void MultiplyRowOfPanels(const Block& block) {
  constexpr int64_t kPanel = TileShape<T>::kPanel, kMost = 8;
  using Function = void (*)(const Block&, const T*, T*);
  static constexpr Function kWide[kMost] = {&AddPanels<1, false, T>, &AddPanels<2, false, T>, &AddPanels<3, false, T>,
                                            &AddPanels<4, false, T>, &AddPanels<5, false, T>, &AddPanels<6, false, T>,
                                            &AddPanels<7, false, T>, &AddPanels<8, false, T>};
  static constexpr Function kWithNarrow[kMostLastPanels] = {&AddPanels<1, true, T>, &AddPanels<2, true, T>,
                                                            &AddPanels<3, true, T>, &AddPanels<4, true, T>};
  WithWaitingSums<T, T>(block, [&](const WaitingColumns& columns, T* sums) HWY_ATTR {
    const T* b = reinterpret_cast<const T*>(block.b) + columns.first / kPanel * block.b_panel_step;
    if (block.narrow_b != nullptr) return kWithNarrow[columns.count / kPanel - 1](block, b, sums);
    // About as many at a time, down to the last.
    for (int64_t left = ceil_div(columns.count, kPanel), together = 0; left > 0; left -= together) {
      together = equal_part(left, kMost, 1);
      kWide[together - 1](block, b, sums);
      b += together * block.b_panel_step;
      sums += together * kPanel;
    }
  });
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
