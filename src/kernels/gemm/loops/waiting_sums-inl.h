// Room: kernels, per target. A way to call with_waiting_sums() with a function object.
#if defined(BINET_KERNELS_GEMM_LOOPS_WAITING_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_WAITING_SUMS_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_WAITING_SUMS_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_WAITING_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/loops/finish-inl.h"
#include "kernels/gemm/loops/tile_shape-inl.h"
#include "kernels/gemm/waiting_sums.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

template <class T, class Add>
void CallAdd(const void* add, const WaitingColumns& columns, std::byte* sums) {
  (*static_cast<const Add*>(add))(columns, reinterpret_cast<T*>(sums));
}

/// add(columns, sums), whose sums are of type T, in the place of with_waiting_sums()'s `products`.
template <class Element, class T, class Add>
HWY_INLINE void WithWaitingSums(const Block& block, const Add& add) {
  constexpr WaitingNumbers kNumbers = {sizeof(T), TileShape<T>::kLanes, &Finish<Element, T>};
  with_waiting_sums(block, kNumbers, {&add, &CallAdd<T, Add>});
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
