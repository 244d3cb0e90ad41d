#include "kernels/peak/peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::peak::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
double MultiplyAdd(int64_t rounds) {
  const hn::ScalableTag<T> d;
  constexpr size_t kChains = 12;  // enough to hide the latency, few enough for 16 registers
  // The compiler must not know that the sums converge.
  static volatile T half = T{0.5};
  const auto factor = hn::Set(d, half);
  hn::Vec<decltype(d)> sums[kChains];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kChains; ++i) sums[i] = factor;
  for (int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kChains; ++i) sums[i] = hn::MulAdd(factor, factor, sums[i]);
  }
  auto all = hn::Zero(d);
  for (size_t i = 0; i < kChains; ++i) all = hn::Add(all, sums[i]);
  static volatile T seen;
  seen = hn::GetLane(all);
  static_cast<void>(seen);
  return 2.0 * static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

double MultiplyAddF32(int64_t rounds) { return MultiplyAdd<float>(rounds); }
double MultiplyAddF64(int64_t rounds) { return MultiplyAdd<double>(rounds); }

uint64_t Read(std::span<const std::byte> memory) {
  const hn::ScalableTag<uint64_t> d;
  const size_t lanes = hn::Lanes(d);
  const auto* from = reinterpret_cast<const uint64_t*>(memory.data());
  const size_t count = memory.size() / sizeof(uint64_t);
  constexpr size_t kChains = 4;
  hn::Vec<decltype(d)> bits[kChains];
  for (size_t i = 0; i < kChains; ++i) bits[i] = hn::Zero(d);
  size_t at = 0;
  for (; at + kChains * lanes <= count; at += kChains * lanes) {
    HWY_UNROLL(4)
    for (size_t i = 0; i < kChains; ++i) bits[i] = hn::Xor(bits[i], hn::Load(d, from + at + i * lanes));
  }
  const auto all = hn::Xor(hn::Xor(bits[0], bits[1]), hn::Xor(bits[2], bits[3]));
  HWY_ALIGN uint64_t parts[HWY_MAX_BYTES / sizeof(uint64_t)];
  hn::Store(all, d, parts);
  uint64_t result = 0;
  for (size_t i = 0; i < lanes; ++i) result ^= parts[i];
  for (; at < count; ++at) result ^= from[at];
  return result;
}

}  // namespace binet::kernels::peak::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace binet::kernels::peak {

HWY_EXPORT(MultiplyAddF32);
HWY_EXPORT(MultiplyAddF64);
HWY_EXPORT(Read);

double multiply_add(ElementType type, std::int64_t rounds, const Target& target) {
  const auto run =
      type == ElementType::f64 ? BINET_DISPATCH(MultiplyAddF64, target) : BINET_DISPATCH(MultiplyAddF32, target);
  return run(rounds);
}

std::uint64_t read(std::span<const std::byte> memory, const Target& target) {
  return BINET_DISPATCH(Read, target)(memory);
}

}  // namespace binet::kernels::peak
#endif
