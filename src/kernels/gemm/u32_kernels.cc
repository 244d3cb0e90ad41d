// Room: kernels. i32 and u32: the same bits, modulo 2^32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/u32_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/make_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

const Kernels* I32Kernels() {
  static constexpr Kernels kKernels = MakeKernels<uint32_t, uint32_t>(ElementType::i32);
  return &kKernels;
}
const Kernels* U32Kernels() {
  static constexpr Kernels kKernels = MakeKernels<uint32_t, uint32_t>(ElementType::u32);
  return &kKernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(I32Kernels);
HWY_EXPORT(U32Kernels);

const Kernels* find_u32_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::i32:
      return BINET_DISPATCH(I32Kernels, target)();
    case ElementType::u32:
      return BINET_DISPATCH(U32Kernels, target)();
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
