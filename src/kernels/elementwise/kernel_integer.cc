// Room: kernels. The elementwise kernels of i8 to u64, once for each target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/kernel_integer.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which includes this file again for each target.
#include <hwy/highway.h>

#include "base/element_types.h"
#include "kernels/elementwise/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::elementwise {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_AVX3
/// Bytes, which VBMI moves to any places in one step.
template <class Element>
Kernel choose_with_vbmi(Operation operation) {
  return visit_operation(operation, []<class Op>() -> Kernel {
    using L = Lanes<Op, typename SeenAs<Op, Element>::Type>;
    return kernel_of<L>(lookups_of_vbmi_for<L>());
  });
}
#endif

Kernel choose_integer(Operation operation, ElementType type, const Target& target) {
  return visit_numeric_type(type, [&]<class T>() -> Kernel {
#if HWY_TARGET == HWY_AVX3
    if constexpr (std::is_integral_v<T> && sizeof(T) == 1) {
      if (has_byte_permutes(target)) return choose_with_vbmi<T>(operation);
    }
#endif
    (void)target;
    if constexpr (std::is_integral_v<T>) return choose_for<T>(operation);
    return {};
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace binet::kernels::elementwise
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "base/dispatch.h"
#include "kernels/elementwise/families.h"

namespace binet::kernels::elementwise {

HWY_EXPORT(choose_integer);

Kernel find_integer_kernel(Operation operation, ElementType type, const Target& target) {
  return BINET_DISPATCH(choose_integer, target)(operation, type, target);
}

}  // namespace binet::kernels::elementwise
#endif
