// Room: kernels, per target. One row of Y, and the last panels of packed B, the narrow one among them.
//
// A panel of one vector has a single chain of multiply-adds, whose latency would take as long by itself as two wide
// panels do. Here its multiply-adds wait while those of its neighbours go on.
#if defined(BINET_KERNELS_GEMM_LAST_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LAST_PANELS_INL_H_
#undef BINET_KERNELS_GEMM_LAST_PANELS_INL_H_
#else
#define BINET_KERNELS_GEMM_LAST_PANELS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/tile_ends-inl.h"
#include "kernels/gemm/tile_shape-inl.h"
#include "kernels/gemm/waiting_sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Element, class T>
constexpr bool kJoinsLastPanels = (HWY_TARGET == HWY_AVX3) && hwy::IsFloat<T>() && std::is_same_v<Element, T>;

/// As many vectors as the widest tile of one row has, and the narrow one.
constexpr int64_t kMostLastPanels = 4;

/// Adds the products to the sums of kPanels wide panels and the narrow one.
template <size_t kPanels, class T>
HWY_NOINLINE void AddLastPanels(const Block& block, T* sums) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  using Shape = TileShape<T>;
  constexpr size_t kWide = kPanels * Shape::kPanelVectors;
  V sum[kWide + 1];
  HWY_UNROLL(9)
  for (size_t j = 0; j <= kWide; ++j) sum[j] = hn::Load(d, sums + j * Shape::kLanes);
  const auto* a = reinterpret_cast<const T*>(block.a);
  const auto* b = reinterpret_cast<const T*>(block.b);
  const auto* narrow = reinterpret_cast<const T*>(block.narrow_b);
  const int64_t a_step = block.a_column_step, panel_step = block.b_panel_step;
  for (int64_t k = block.k; k > 0; --k, a += a_step, b += Shape::kPanel, narrow += Shape::kLanes) {
    const V of_a = hn::Set(d, LoadOne(a));
    HWY_UNROLL(8)
    for (size_t j = 0; j < kWide; ++j) {
      const auto panel = static_cast<int64_t>(j / Shape::kPanelVectors);
      const T* const from = b + panel * panel_step + j % Shape::kPanelVectors * Shape::kLanes;
      sum[j] = MultiplyAdd(of_a, hn::LoadU(d, from), sum[j]);
    }
    sum[kWide] = MultiplyAdd(of_a, hn::LoadU(d, narrow), sum[kWide]);
  }
  HWY_UNROLL(9)
  for (size_t j = 0; j <= kWide; ++j) hn::Store(sum[j], d, sums + j * Shape::kLanes);
}

/// Columns of one to kMostLastPanels wide panels, and of a narrow one.
template <class T>
void MultiplyLastPanels(const Block& block) {
  using Function = void (*)(const Block&, T*);
  static constexpr Function kFunctions[kMostLastPanels] = {&AddLastPanels<1, T>, &AddLastPanels<2, T>,
                                                           &AddLastPanels<3, T>, &AddLastPanels<4, T>};
  const Function function = kFunctions[block.n / int64_t{TileShape<T>::kPanel} - 1];
  WithWaitingSums<T, T>(block, [&](const Columns& /*all*/, T* sums) { function(block, sums); });
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
