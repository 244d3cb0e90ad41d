// Benchmark: how fast this CPU multiplies and adds integers, by each of the ways open to the kernels.
//
// Counter of_f32: products added per second, as a share of the multiply-adds that the CPU does in f32 in the same run.
// A Gemm kernel comes close to its way's rate and cannot exceed it; u32_kernels.cc and u64_kernels.cc say which way is
// taken where, and why. Every instruction set of this CPU is measured.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/bench/integer_rates_bench.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "base/dispatch.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Leaves `v` as it is, but the compiler does not know that: it would multiply once, ahead of the loop.
template <class V>
HWY_INLINE void Forget(V& v) {
#if HWY_TARGET == HWY_SCALAR
  asm volatile("" : "+r"(v.raw));
#elif HWY_TARGET == HWY_EMU128
  asm volatile("" : "+m"(v.raw));
#elif HWY_ARCH_X86
  asm volatile("" : "+v"(v.raw));
#else
  asm volatile("" : "+w"(v.raw));
#endif
}

/// Multiply, add.
template <class T>
struct MultiplyAndAdd {
  using Lane = T;
  static constexpr size_t kChains = 12, kProducts = 1;
  using V = hn::Vec<hn::ScalableTag<T>>;
  static constexpr size_t kSums = 1;
  static HWY_INLINE void Add(V (&sums)[kSums], V a, V b) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_AVX3
    sums[0] = hn::Add(sums[0], hn::Mul(a, b));
#else
    if constexpr (sizeof(T) == 4) sums[0] = hn::Add(sums[0], hn::Mul(a, b));
#endif
  }
};

/// 64-bit products from 32-bit halves; those of a lower with an upper half are added apart (u64_halves_tile-inl.h).
struct U64ByHalves {
  using Lane = uint64_t;
  static constexpr size_t kChains = 6, kProducts = 1;
  using V = hn::Vec<hn::ScalableTag<uint64_t>>;
  static constexpr size_t kSums = 2;
#if HWY_TARGET == HWY_SCALAR
  static void Add(V (&)[kSums], V, V) {}
#else
  static HWY_INLINE void Add(V (&sums)[kSums], V a, V b) {
    const hn::DFromV<V> d;
    const hn::Repartition<uint32_t, decltype(d)> d32;
    const auto a32 = hn::BitCast(d32, a), b32 = hn::BitCast(d32, b);
    sums[0] = hn::Add(sums[0], hn::MulEven(a32, b32));
    sums[1] = hn::BitCast(d, hn::Add(hn::BitCast(d32, sums[1]), hn::Mul(a32, b32)));
  }
#endif
};

#if HWY_TARGET == HWY_AVX3
// As assembly, because the compiler has no leave to use these instructions in functions for AVX-512 alone.
#define BINET_ADD(INSTRUCTION, SUM) asm volatile(INSTRUCTION " %2, %1, %0" : "+v"((SUM).raw) : "v"(a.raw), "v"(b.raw))

/// Signed 16-bit halves of two products: low by low, and twice low by high.
struct U32ByPairDots {
  using Lane = uint32_t;
  static constexpr size_t kChains = 12, kProducts = 2;
  using V = hn::Vec<hn::ScalableTag<uint32_t>>;
  static constexpr size_t kSums = 2;
  static HWY_INLINE void Add(V (&sums)[kSums], V a, V b) {
    BINET_ADD("vpdpwssd", sums[0]);
    BINET_ADD("vpdpwssd", sums[1]);
    BINET_ADD("vpdpwssd", sums[1]);
  }
};

/// A 32-bit product in each 64-bit lane.
struct U32By52Bits {
  using Lane = uint64_t;
  static constexpr size_t kChains = 12, kProducts = 1;
  using V = hn::Vec<hn::ScalableTag<uint64_t>>;
  static constexpr size_t kSums = 1;
  static HWY_INLINE void Add(V (&sums)[kSums], V a, V b) { BINET_ADD("vpmadd52luq", sums[0]); }
};

/// Lower and upper bits of the product of the lower 52 bits, and what the upper 12 bits add to that.
struct U64By52Bits {
  using Lane = uint64_t;
  static constexpr size_t kChains = 12, kProducts = 1;
  using V = hn::Vec<hn::ScalableTag<uint64_t>>;
  static constexpr size_t kSums = 2;
  static HWY_INLINE void Add(V (&sums)[kSums], V a, V b) {
    BINET_ADD("vpmadd52luq", sums[0]);
    BINET_ADD("vpmadd52huq", sums[1]);
    BINET_ADD("vpmadd52huq", sums[1]);
  }
};
#undef BINET_ADD
#endif

/// How many products were added up in `rounds` rounds.
template <class Way>
double Products(int64_t rounds) {
  using T = typename Way::Lane;
  const hn::ScalableTag<T> d;
  static volatile T factor = 3;
  auto a = hn::Set(d, factor);
  const auto b = hn::Set(d, factor);
  typename Way::V sums[Way::kChains][Way::kSums];
  HWY_UNROLL(16)
  for (size_t i = 0; i < Way::kChains; ++i) {
    for (size_t j = 0; j < Way::kSums; ++j) sums[i][j] = hn::Zero(d);
  }
  for (int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < Way::kChains; ++i) {
      Forget(a);
      Way::Add(sums[i], a, b);
    }
  }
  HWY_UNROLL(16)
  for (size_t i = 0; i < Way::kChains; ++i) {
    for (size_t j = 0; j < Way::kSums; ++j) Forget(sums[i][j]);
  }
  return static_cast<double>(rounds) * static_cast<double>(Way::kChains * Way::kProducts * hn::Lanes(d));
}

double U32Multiply(int64_t rounds) { return Products<MultiplyAndAdd<uint32_t>>(rounds); }
double U64Multiply(int64_t rounds) {
  constexpr bool kHas = HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_AVX3;
  return kHas ? Products<MultiplyAndAdd<uint64_t>>(rounds) : 0;
}
double U64Halves(int64_t rounds) { return HWY_TARGET == HWY_SCALAR ? 0 : Products<U64ByHalves>(rounds); }
#if HWY_TARGET == HWY_AVX3
double U32PairDots(int64_t rounds) { return Products<U32ByPairDots>(rounds); }
double U3252Bits(int64_t rounds) { return Products<U32By52Bits>(rounds); }
double U6452Bits(int64_t rounds) { return Products<U64By52Bits>(rounds); }
#else
double U32PairDots(int64_t) { return 0; }
double U3252Bits(int64_t) { return 0; }
double U6452Bits(int64_t) { return 0; }
#endif

}  // namespace binet::kernels::gemm::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "kernels/gemm/bench/peak.h"

namespace binet::kernels::gemm::bench {
namespace {

HWY_EXPORT(U32Multiply);
HWY_EXPORT(U32PairDots);
HWY_EXPORT(U3252Bits);
HWY_EXPORT(U64Multiply);
HWY_EXPORT(U64Halves);
HWY_EXPORT(U6452Bits);

/// Calls of `work(rounds)` give numbers of products, or 0 where the target has no such way.
using Work = double (*)(std::int64_t rounds);

double rate(Work work, const Target& target) {
  constexpr std::int64_t kRounds = 20000;
  const auto begin = std::chrono::steady_clock::now();
  const double products = work == nullptr ? kPeakF32.run(kRounds, target) / 2 : work(kRounds);
  return products / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void compare(benchmark::State& state, Work work, const Target& target) {
  double best = 0, best_f32 = 0;
  for (auto _ : state) {
    best = std::max(best, rate(work, target));
    best_f32 = std::max(best_f32, rate(nullptr, target));
  }
  state.counters["of_f32"] = best / best_f32;
}

void add_all(const Target& target) {
  struct Row {
    const char* name;
    Work work;
    bool needs_vnni_and_ifma;
  };
  const Row rows[] = {{"u32/multiply_add", BINET_DISPATCH(U32Multiply, target), false},
                      {"u32/16_bit_halves_by_pair_dots", BINET_DISPATCH(U32PairDots, target), true},
                      {"u32/52_bit_multiply_add", BINET_DISPATCH(U3252Bits, target), true},
                      {"u64/multiply_add", BINET_DISPATCH(U64Multiply, target), false},
                      {"u64/32_bit_halves", BINET_DISPATCH(U64Halves, target), false},
                      {"u64/52_bit_multiply_add", BINET_DISPATCH(U6452Bits, target), true}};
  for (const Row& row : rows) {
    if (row.needs_vnni_and_ifma && target.name != "avx512dl") continue;
    if (row.work(1) == 0) continue;
    benchmark::RegisterBenchmark((std::string(row.name) + "/" + std::string(target.name)).c_str(), compare, row.work,
                                 target);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm::bench

int main(int argc, char** argv) {
  for (const binet::Target& target : binet::supported_targets()) binet::kernels::gemm::bench::add_all(target);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
#endif
