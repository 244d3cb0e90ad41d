// Room: kernels. f32, and the 16-bit floats, whose sums are f32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/loops/f32_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/make_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

const Kernels* F32Kernels() {
  static constexpr Kernels kKernels = MakeKernels<float, float>(ElementType::f32);
  return &kKernels;
}
const Kernels* F16Kernels() {
  static constexpr Kernels kKernels = MakeKernels<Float16, float>(ElementType::f16);
  return &kKernels;
}
const Kernels* BF16Kernels() {
  static constexpr Kernels kKernels = MakeKernels<BFloat16, float>(ElementType::bf16);
  return &kKernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(F32Kernels);
HWY_EXPORT(F16Kernels);
HWY_EXPORT(BF16Kernels);

const Kernels* find_f32_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::f32:
      return BINET_DISPATCH(F32Kernels, target)();
    case ElementType::f16:
      return BINET_DISPATCH(F16Kernels, target)();
    case ElementType::bf16:
      return BINET_DISPATCH(BF16Kernels, target)();
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
