// Room: kernels. i64 and u64: the same bits, modulo 2^64.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/u64_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/make_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {

const Kernels* I64Kernels() {
  static constexpr Kernels kKernels = MakeKernels<uint64_t, uint64_t>(ElementType::i64);
  return &kKernels;
}
const Kernels* U64Kernels() {
  static constexpr Kernels kKernels = MakeKernels<uint64_t, uint64_t>(ElementType::u64);
  return &kKernels;
}

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(I64Kernels);
HWY_EXPORT(U64Kernels);

const Kernels* find_u64_kernels(ElementType type, const Target& target) {
  switch (type) {
    case ElementType::i64:
      return BINET_DISPATCH(I64Kernels, target)();
    case ElementType::u64:
      return BINET_DISPATCH(U64Kernels, target)();
    default:
      return nullptr;
  }
}

}  // namespace binet::kernels::gemm
#endif
