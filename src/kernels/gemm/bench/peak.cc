#include "kernels/gemm/bench/peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm/bench/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "base/dispatch.h"
#include "kernels/peak/peak.h"

HWY_BEFORE_NAMESPACE();
namespace binet::kernels::gemm::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
double MultiplyAdds(int64_t rounds) {
  const hn::ScalableTag<T> d;
  constexpr size_t kChains = 12;  // enough to hide the latency, and few enough for 16 registers
  // Unknown to the compiler, for each chain anew: else it would find that all of them do the same.
  static volatile T number = static_cast<T>(0.5);
  const auto factor = hn::Set(d, number);
  const auto summand = hn::Set(d, number);
  hn::Vec<decltype(d)> value[kChains];
  HWY_UNROLL(16)
  for (size_t i = 0; i < kChains; ++i) value[i] = hn::Set(d, number);
  for (int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(16)
    for (size_t i = 0; i < kChains; ++i) {
      // The chain goes through the multiplication, or a compiler would do that once and for all.
      if constexpr (hwy::IsFloat<T>()) {
        value[i] = hn::MulAdd(value[i], factor, summand);
      } else {
        auto v = hn::Add(hn::Mul(value[i], factor), summand);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
        // Else gcc begins with all multiplications, and has no registers for their results. On a copy: the whole array
        // would go to memory.
        auto raw = v.raw;
        asm volatile("" : "+v"(raw));
        v.raw = raw;
#endif
        value[i] = v;
      }
    }
  }
  auto all = hn::Zero(d);
  for (size_t i = 0; i < kChains; ++i) all = hn::Add(all, value[i]);
  [[maybe_unused]] static volatile T result;
  result = hn::GetLane(all);
  return 2.0 * static_cast<double>(rounds) * kChains * static_cast<double>(hn::Lanes(d));
}

double PeakF32(int64_t rounds) { return MultiplyAdds<float>(rounds); }
double PeakF64(int64_t rounds) { return MultiplyAdds<double>(rounds); }
double PeakU32(int64_t rounds) { return MultiplyAdds<uint32_t>(rounds); }
double PeakU64(int64_t rounds) { return MultiplyAdds<uint64_t>(rounds); }

}  // namespace binet::kernels::gemm::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86
#include <immintrin.h>
#endif

namespace binet::kernels::gemm::bench {
namespace {

HWY_EXPORT(PeakF32);
HWY_EXPORT(PeakF64);
HWY_EXPORT(PeakU32);
HWY_EXPORT(PeakU64);

bool always() { return true; }

#if HWY_ARCH_X86
constexpr int kChains = 12;
using Chains = __m512i[kChains];

// Highway of Debian 12 has neither of these two instructions. The assembler text is empty: it keeps the compiler from
// seeing that all chains are alike, and that nobody reads them.
__attribute__((target("avx512f"), always_inline)) inline void hide(Chains& sum) {
  for (__m512i& s : sum) asm volatile("" : "+v"(s));
}

__attribute__((target("avx512f,avx512ifma"))) double run_52_bit(std::int64_t rounds, const Target&) {
  Chains sum = {};
  const __m512i factor = _mm512_set1_epi64(3);
  hide(sum);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512i& s : sum) s = _mm512_madd52lo_epu64(s, factor, factor);
  }
  hide(sum);
  return 2.0 * static_cast<double>(rounds) * kChains * 8;
}
bool has_52_bit() { return __builtin_cpu_supports("avx512ifma") != 0; }

// Low x low, and both low x high at once, make a product of 32 bits: three instructions for two vectors of products.
__attribute__((target("avx512f,avx512vnni"))) double run_pair_dot(std::int64_t rounds, const Target&) {
  Chains sum = {};
  const __m512i factor = _mm512_set1_epi64(3);
  hide(sum);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512i& s : sum) s = _mm512_dpwssd_epi32(s, factor, factor);
  }
  hide(sum);
  return 2.0 * static_cast<double>(rounds) * kChains * 16 * 2 / 3;
}

__attribute__((target("avx512f,avx512bf16"))) double run_bf16_pair_dot(std::int64_t rounds, const Target&) {
  __m512 sum[kChains] = {};
  const __m512bh factor = {};
  for (__m512& s : sum) asm volatile("" : "+v"(s));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m512& s : sum) s = _mm512_dpbf16_ps(s, factor, factor);
  }
  for (__m512& s : sum) asm volatile("" : "+v"(s));
  return 2.0 * static_cast<double>(rounds) * kChains * 32;
}
bool has_bf16_pair_dot() { return __builtin_cpu_supports("avx512bf16") != 0; }

bool has_pair_dot() { return __builtin_cpu_supports("avx512vnni") != 0; }
#else
double run_bf16_pair_dot(std::int64_t, const Target&) { return 0; }
bool has_bf16_pair_dot() { return false; }
#endif

/// The best target of this CPU, whichever is in use, has them.
bool has_matrix_registers() { return has_amx(supported_targets().front()); }

template <ElementType kType>
double run_matrix_registers(std::int64_t rounds, const Target&) {
  return peak::multiply_on_matrix_registers(kType, rounds, supported_targets().front());
}

}  // namespace

const Peak kPeakF32 = {"f32 multiply-add",
                       [](std::int64_t n, const Target& t) { return BINET_DISPATCH(PeakF32, t)(n); }, &always};
const Peak kPeakF64 = {"f64 multiply-add",
                       [](std::int64_t n, const Target& t) { return BINET_DISPATCH(PeakF64, t)(n); }, &always};
const Peak kPeakU32 = {"32-bit multiply, add",
                       [](std::int64_t n, const Target& t) { return BINET_DISPATCH(PeakU32, t)(n); }, &always};
const Peak kPeakU64 = {"64-bit multiply, add",
                       [](std::int64_t n, const Target& t) { return BINET_DISPATCH(PeakU64, t)(n); }, &always};

const Peak kPeakPairsOfBF16 = {"bf16 pair-dot", &run_bf16_pair_dot, &has_bf16_pair_dot};
const Peak kPeakAmxBF16 = {"bf16 on matrix registers", &run_matrix_registers<ElementType::bf16>, &has_matrix_registers};
const Peak kPeakAmxU32 = {"i32 by ten products of bytes there", &run_matrix_registers<ElementType::u32>,
                          &has_matrix_registers};
const Peak kPeakAmxU64 = {"i64 by 36 products of bytes there", &run_matrix_registers<ElementType::u64>,
                          &has_matrix_registers};

std::span<const Peak> all_peaks() {
  static const Peak all[] = {
    kPeakF32,
    kPeakF64,
    kPeakU32,
    kPeakPairsOfBF16,
#if HWY_ARCH_X86
    {"i32 by 52-bit multiply-add", &run_52_bit, &has_52_bit},
    {"i32 by three 16-bit pair-dots for two", &run_pair_dot, &has_pair_dot},
#endif
    kPeakU64,
    kPeakAmxBF16,
    kPeakAmxU32,
    kPeakAmxU64,
  };
  return all;
}

}  // namespace binet::kernels::gemm::bench
#endif
