// Room: kernels. f64.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/loops/f64_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/loops/make_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

const Kernels* F64Kernels() {
  static constexpr Kernels kKernels = MakeKernels<double, double>(ElementType::f64);
  return &kKernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(F64Kernels);

const Kernels* find_f64_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::f64:
      return BINET_DISPATCH(F64Kernels, target)();
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
