#include "kernels/gemm/gemm_bench_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/gemm_bench_peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
double MultiplyAdds(int64_t rounds) {
  const hn::ScalableTag<T> d;
  constexpr size_t kChains = 12;  // enough to hide the latency, and few enough for 16 registers
  static volatile T factor = T{0.5};
  const auto a = hn::Set(d, factor);
  const auto b = hn::Set(d, factor);
  hn::Vec<decltype(d)> sum[kChains];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kChains; ++i) sum[i] = hn::Set(d, factor);
  for (int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kChains; ++i) sum[i] = hn::MulAdd(a, b, sum[i]);
  }
  auto all = hn::Zero(d);
  for (size_t i = 0; i < kChains; ++i) all = hn::Add(all, sum[i]);
  factor = factor + hn::GetLane(all) * T{0};
  return 2.0 * static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

double PeakF32(int64_t rounds) { return MultiplyAdds<float>(rounds); }
double PeakF64(int64_t rounds) { return MultiplyAdds<double>(rounds); }

}  // namespace binet::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::gemm {

HWY_EXPORT(PeakF32);
HWY_EXPORT(PeakF64);

double multiply_add_f32(std::int64_t rounds, const Target& target) { return BINET_DISPATCH(PeakF32, target)(rounds); }
double multiply_add_f64(std::int64_t rounds, const Target& target) { return BINET_DISPATCH(PeakF64, target)(rounds); }

}  // namespace binet::kernels::gemm
#endif
