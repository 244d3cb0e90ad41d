// Room: kernels. The elementwise kernels of f32 and f64, once for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/kernel_float.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each target.
#include <hwy/highway.h>

#include "kernels/elementwise/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {

Kernel choose_float(Operation operation, ElementType type) {
  return type == ElementType::f32 ? choose_for<float>(operation) : choose_for<double>(operation);
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/dispatch.h"
#include "kernels/elementwise/families.h"

namespace binet::kernels::elementwise {

HWY_EXPORT(choose_float);

Kernel find_float_kernel(Operation operation, ElementType type, const Target& target) {
  return BINET_DISPATCH(choose_float, target)(operation, type);
}

}  // namespace binet::kernels::elementwise
#endif
