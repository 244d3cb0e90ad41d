// Room: kernels. The elementwise kernels of f16, once for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/kernel_f16.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each target.
#include <hwy/highway.h>

#include "kernels/elementwise/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {

Kernel choose_f16(Operation operation, const Target& target) {
#if HWY_TARGET == HWY_AVX3 && defined(BINET_HAS_AVX512_FP16)
  if (operation == Operation::multiply && has_f16_arithmetic(target)) {
    using L = Lanes<Multiply, InstructionFloat16>;
    return kernel_of<L>();
  }
#endif
  (void)target;
  return choose_for<Float16>(operation);
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/dispatch.h"
#include "kernels/elementwise/families.h"

namespace binet::kernels::elementwise {

HWY_EXPORT(choose_f16);

Kernel find_f16_kernel(Operation operation, const Target& target) {
  Kernel kernel = BINET_DISPATCH(choose_f16, target)(operation, target);
  const Target& rows_target = target_for_f16_conversions(target);
  if (&rows_target != &target) {
    const Kernel other = BINET_DISPATCH(choose_f16, rows_target)(operation, rows_target);
    kernel.rows = other.rows;
    kernel.lanes = other.lanes;
    kernel.widening = other.widening;
  }
  return kernel;
}

}  // namespace binet::kernels::elementwise
#endif
