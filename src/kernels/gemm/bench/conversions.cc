#include "kernels/gemm/bench/conversions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/bench/conversions.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using D16 = hn::Rebind<hwy::float16_t, D>;

/// For all that the compiler knows, somebody reads the vector, and changes it.
HWY_INLINE void Use(hn::Vec<D>& v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  asm volatile("" : "+v"(v.raw));
#else
  asm volatile("" : "+m"(v));
#endif
}

void Widen(const std::byte* from, int64_t count) {
  const auto* x = reinterpret_cast<const hwy::float16_t*>(from);
  const auto N = static_cast<int64_t>(hn::Lanes(D()));
  HWY_UNROLL(4)
  for (int64_t i = 0; i + N <= count; i += N) {
    auto v = hn::PromoteTo(D(), hn::LoadU(D16(), x + i));
    Use(v);
  }
}

void Narrow(std::byte* to, int64_t count) {
  auto* y = reinterpret_cast<hwy::float16_t*>(to);
  const auto N = static_cast<int64_t>(hn::Lanes(D()));
  auto v = hn::Set(D(), 0.3f);
  HWY_UNROLL(4)
  for (int64_t i = 0; i + N <= count; i += N) {
    Use(v);
    hn::StoreU(hn::DemoteTo(D16(), v), D16(), y + i);
  }
}

}  // namespace binet::kernels::gemm::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm::bench {
namespace {

HWY_EXPORT(Widen);
HWY_EXPORT(Narrow);

}  // namespace

void convert_all(const Case& c, const Operands& operands) {
  BINET_DISPATCH(Widen, default_target())(operands.a, c.m * c.k);
  BINET_DISPATCH(Widen, default_target())(operands.b, c.k * c.n);
  BINET_DISPATCH(Narrow, default_target())(operands.y, c.m * c.n);
}

}  // namespace binet::kernels::gemm::bench
#endif
