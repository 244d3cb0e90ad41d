// Room: base. The two functions of Highway's that its headers call: which targets the CPU can run, and which is chosen.
//
// Binet chooses by itself (base/dispatch.h), so of Highway's library only these would be used; but loading it measures
// the CPU's clock for 3 ms, more than everything else that happens before main(). With them here Highway is headers
// alone. The CPU's features are read with the compiler's own function, which looks at what the system saves, too.
#include <hwy/targets.h>

namespace hwy {
namespace {

#if HWY_ARCH_X86

// A macro, because the function takes only literals.
#define BINET_CPU_HAS(FEATURE) (__builtin_cpu_supports(FEATURE) != 0)

int64_t find_targets() {
  __builtin_cpu_init();
  int64_t targets = 0;
  if (!(BINET_CPU_HAS("ssse3"))) return targets;
  targets |= HWY_SSSE3;
  if (!(BINET_CPU_HAS("sse4.1") && BINET_CPU_HAS("sse4.2") && BINET_CPU_HAS("aes") && BINET_CPU_HAS("pclmul"))) {
    return targets;
  }
  targets |= HWY_SSE4;
  // F16C and LZCNT, which Highway's AVX2 includes, came no later than BMI2 and FMA together.
  if (!(BINET_CPU_HAS("avx2") && BINET_CPU_HAS("fma") && BINET_CPU_HAS("bmi") && BINET_CPU_HAS("bmi2"))) return targets;
  targets |= HWY_AVX2;
  if (!(BINET_CPU_HAS("avx512f") && BINET_CPU_HAS("avx512vl") && BINET_CPU_HAS("avx512dq") &&
        BINET_CPU_HAS("avx512bw") && BINET_CPU_HAS("avx512cd"))) {
    return targets;
  }
  targets |= HWY_AVX3;
  if (BINET_CPU_HAS("avx512vnni") && BINET_CPU_HAS("vpclmulqdq") && BINET_CPU_HAS("avx512vbmi") &&
      BINET_CPU_HAS("avx512vbmi2") && BINET_CPU_HAS("avx512ifma") && BINET_CPU_HAS("gfni") &&
      BINET_CPU_HAS("avx512vpopcntdq") && BINET_CPU_HAS("avx512bitalg")) {
    targets |= HWY_AVX3_DL;
  }
  return targets;
}

#elif HWY_ARCH_ARM

int64_t find_targets() { return HWY_NEON; }

#else

int64_t find_targets() { return 0; }

#endif

}  // namespace

int64_t SupportedTargets() {
  static const int64_t targets = find_targets() | HWY_STATIC_TARGET;
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

}  // namespace hwy
