#include "base/target.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/fail.h"
#include "base/text.h"

namespace binet {
namespace {

#if HWY_ARCH_X86
// A bit that Highway leaves free, better than all of its own.
constexpr std::int64_t kAmx = HWY_AVX3_DL >> 1;
#endif

constexpr std::array kTargets = {
#if HWY_ARCH_X86
    Target{"amx", kAmx, "what avx512dl needs, AVX512-BF16, AMX-TILE, AMX-BF16, AMX-INT8, Linux 5.16"},
    Target{"avx512dl", HWY_AVX3_DL, "AVX-512 F, BW, CD, DQ, VL, VNNI, IFMA, VBMI"},
    Target{"avx512", HWY_AVX3, "AVX-512 F, BW, CD, DQ, VL"},
    Target{"avx2", HWY_AVX2, "AVX2, FMA, BMI2, F16C"},
    Target{"sse4", HWY_SSE4, "SSE4.2"},
#elif HWY_ARCH_ARM
    Target{"neon", HWY_NEON, "Advanced SIMD"},
#endif
    Target{"portable", HWY_EMU128, "nothing beyond the compiler's baseline"},
};

#if HWY_ARCH_X86
/// Of CPUs that have AVX-512: features that the compiler has no names for. Asked once, since a virtual machine takes
/// microseconds to answer.
unsigned newer_features() {
  static const unsigned features = [] {
    constexpr unsigned kExtendedFeatures = 7;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __cpuid_count(kExtendedFeatures, 0, eax, ebx, ecx, edx);
    return edx;
  }();
  return features;
}

/// Whether kernels for the target use what it does not name, where the CPU has it. Not all do: a CPU without it can
/// then be tested on one that has it.
bool uses_newer_features(const Target& target) noexcept {
  return target.highway <= HWY_AVX3_DL || (target.highway == HWY_AVX3 && __builtin_cpu_is("amd"));
}

/// Whether there are matrix registers, and the system lets this process use them.
bool may_use_amx() {
#if defined(__x86_64__) && defined(BINET_COMPILER_KNOWS_AMX)
  constexpr unsigned kAmxBF16 = 1U << 22U, kAmxTile = 1U << 24U, kAmxInt8 = 1U << 25U;
  constexpr unsigned kAll = kAmxBF16 | kAmxTile | kAmxInt8;
  if ((newer_features() & kAll) != kAll || !__builtin_cpu_supports("avx512bf16")) return false;
  constexpr long kAskForState = 0x1023, kTileData = 18;  // of arch_prctl: ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
#else
  return false;
#endif
}
#endif

/// Highway's bits for what this CPU and its operating system can run.
std::int64_t find_highway_targets() {
  const std::int64_t have = hwy::SupportedTargets() | HWY_EMU128;
#if HWY_ARCH_X86
  // Highway's own AVX3_DL is not asked: it wants more of the CPU than the kernels use, but not IFMA.
  __builtin_cpu_init();
  const bool has_dl = (have & HWY_AVX3) != 0 && __builtin_cpu_supports("avx512vnni") &&
                      __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi");
  if (!has_dl) return have & ~std::int64_t{HWY_AVX3_DL};
  return have | HWY_AVX3_DL | (may_use_amx() ? kAmx : 0);
#else
  return have;
#endif
}

/// Whether this CPU, which can run `target`, is faster with it than with the next one.
bool gains_from(const Target& target) {
#if HWY_ARCH_X86
  return target.highway != HWY_AVX3_DL || !__builtin_cpu_is("amd");
#else
  (void)target;
  return true;
#endif
}

std::vector<Target> find_supported() {
  const std::int64_t have = find_highway_targets();
  std::vector<Target> found;
  std::copy_if(kTargets.begin(), kTargets.end(), std::back_inserter(found),
               [&](const Target& target) { return (target.highway & have) != 0; });
  return found;
}

}  // namespace

std::span<const Target> compiled_targets() noexcept { return kTargets; }

std::span<const Target> supported_targets() {
  static const std::vector<Target> supported = find_supported();
  return supported;
}

bool has_amx(const Target& target) noexcept {
#if HWY_ARCH_X86
  return target.highway == kAmx;
#else
  (void)target;
  return false;
#endif
}

bool has_byte_permutes(const Target& target) noexcept {
#if HWY_ARCH_X86
  return uses_newer_features(target) && __builtin_cpu_supports("avx512vbmi");
#else
  (void)target;
  return false;
#endif
}

bool has_units_of_half_vectors() noexcept {
#if HWY_ARCH_X86
  __builtin_cpu_init();
  return __builtin_cpu_is("amdfam19h");
#else
  return false;
#endif
}

bool has_units_of_half_vectors(const Target& target) noexcept {
#if HWY_ARCH_X86
  return target.highway == HWY_AVX3 && has_units_of_half_vectors();
#else
  (void)target;
  return false;
#endif
}

bool is_intel_with_avx512() noexcept {
#if HWY_ARCH_X86
  __builtin_cpu_init();
  return __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

const Target& target_for_f16_conversions(const Target& target) {
#if HWY_ARCH_X86
  if (has_units_of_half_vectors(target))
    return *std::find_if(kTargets.begin(), kTargets.end(), [](const Target& t) { return t.highway == HWY_AVX2; });
#endif
  return target;
}

bool has_f16_arithmetic(const Target& target) noexcept {
#ifdef BINET_HAS_AVX512_FP16
  // Compilers that lack a name for this feature know the instructions through their assembler. The system keeps the
  // registers, or the target would not be there.
  constexpr unsigned kFp16 = 1U << 23U;
  return uses_newer_features(target) && (newer_features() & kFp16) != 0;
#else
  (void)target;
  return false;
#endif
}

bool has_fast_pair_dots(const Target& target) noexcept {
#if HWY_ARCH_X86 && defined(BINET_COMPILER_KNOWS_AMX)
  return target.highway == HWY_AVX3 && __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512bf16");
#else
  (void)target;
  return false;
#endif
}

const Target& target_from_name(std::string_view name) {
  std::string known;
  for (const Target& target : supported_targets()) {
    if (target.name == name) return target;
    known += known.empty() ? "" : " ";
    known += target.name;
  }
  fail(ErrorCode::invalid_argument,
       "BINET_TARGET: {} is not an instruction set that this CPU and build have; they have {}", quote(name), known);
}

const Target& default_target() {
  static const Target& target = []() -> const Target& {
    const char* forced = std::getenv("BINET_TARGET");
    if (forced != nullptr && *forced != '\0') return target_from_name(forced);
    const auto supported = supported_targets();
    return *std::find_if(supported.begin(), supported.end(), gains_from);
  }();
  return target;
}

}  // namespace binet
