// Room: kernels, per target. The product of 64-bit integers, modulo 2^64, where the target has an instruction for it.
//
// Intel's cores from Golden Cove on let vpmullq wait for what its destination held before, though it overwrites that:
// in a loop that has one register for its products they come one after another, 15 cycles each, instead of in two.
// With a mask that clears the other lanes, of which there are none, they do not wait.
#if defined(BINET_KERNELS_MULTIPLY_U64_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BINET_KERNELS_MULTIPLY_U64_INL_H_
#undef BINET_KERNELS_MULTIPLY_U64_INL_H_
#else
#define BINET_KERNELS_MULTIPLY_U64_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::HWY_NAMESPACE {

template <class V>
HWY_INLINE V MultiplyU64(V a, V b) {
#if HWY_TARGET == HWY_AVX3
  __mmask8 all = 0xFF;
  asm("" : "+Yk"(all));  // else a compiler knows that it needs no mask
  if constexpr (sizeof(a.raw) == 64) {
    return V{_mm512_maskz_mullo_epi64(all, a.raw, b.raw)};
  } else if constexpr (sizeof(a.raw) == 32) {
    return V{_mm256_maskz_mullo_epi64(all, a.raw, b.raw)};
  } else {
    return V{_mm_maskz_mullo_epi64(all, a.raw, b.raw)};
  }
#else
  return a * b;
#endif
}

}  // namespace binet::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
