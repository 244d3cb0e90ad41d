// Room: base. Choosing a Highway function for a given Target, instead of Highway's process-wide choice.
//
// To be included by kernel sources after <hwy/highway.h>. HWY_EXPORT(Function) makes a table of the compiled versions
// of Function; BINET_DISPATCH(Function, target) is the pointer to the version for `target`, or, where a source is not
// compiled for it, for the next best target below.
#pragma once

#include <hwy/highway.h>

#include "base/target.h"

namespace binet {

/// The mask that lets Highway pick `target` or anything below it: in Highway's order a lower bit is a better target.
[[nodiscard]] inline std::int64_t at_most(const Target& target) noexcept { return ~(target.highway - 1); }

}  // namespace binet

#if HWY_TARGETS == HWY_STATIC_TARGET
#define BINET_DISPATCH(FUNCTION, TARGET) ((void)(TARGET), &HWY_STATIC_DISPATCH(FUNCTION))
#else
// A macro, because Highway's index depends on the targets of the source that uses it. The parentheses keep the lambda
// from being read as the attribute that "[[" would start.
#define BINET_DISPATCH(FUNCTION, TARGET)            \
  (HWY_DISPATCH_TABLE(FUNCTION)[([](int64_t mask) { \
    hwy::ChosenTarget chosen;                       \
    chosen.Update(mask);                            \
    return chosen.GetIndex();                       \
  })(::binet::at_most(TARGET))])
#endif
