// Room: kernels, per target. Loops over registers, and what keeps sums in them.
#if defined(BINET_KERNELS_GEMM_LOOPS_UNROLLED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_GEMM_LOOPS_UNROLLED_INL_H_
#undef BINET_KERNELS_GEMM_LOOPS_UNROLLED_INL_H_
#else
#define BINET_KERNELS_GEMM_LOOPS_UNROLLED_INL_H_
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

/// GCC else finds memory for sums that the last step needs later, and stores them in every round of the loop over k; or
/// other registers, and copies them there and back.
template <class V, size_t kRows, size_t kVectors>
HWY_INLINE void KeepInRegisters(V (&sum)[kRows][kVectors]) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  HWY_UNROLL(24)
  for (size_t i = 0; i < kRows; ++i) {
    HWY_UNROLL(16)
    for (size_t j = 0; j < kVectors; ++j) {
      auto raw = sum[i][j].raw;
      asm("" : "+v"(raw));
      sum[i][j].raw = raw;
    }
  }
#else
  (void)sum;
#endif
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
