// Room: kernels, per target. Loops over registers.
#if defined(BINET_KERNELS_GEMM_UNROLLED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_UNROLLED_INL_H_
#undef BINET_KERNELS_GEMM_UNROLLED_INL_H_
#else
#define BINET_KERNELS_GEMM_UNROLLED_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#undef BINET_INLINE_LAMBDA
#define BINET_INLINE_LAMBDA __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

/// body(0), body(1), ... with indices that are constants: arrays under such indices become registers, while of those
/// that a loop advances GCC makes a vector, or leaves them in memory.
template <size_t kCount, class Body>
HWY_INLINE void Unrolled(const Body& body) {
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) HWY_ATTR BINET_INLINE_LAMBDA {
    (body(std::integral_constant<size_t, kIndex>()), ...);
  }
  (std::make_index_sequence<kCount>());
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
