// Room: base. The instruction sets for which the kernels are compiled, and the one in use.
//
// An ordered list, best first; the first that this CPU has, and gains from, is the default. BINET_TARGET names another
// one; a name that is unknown, or that this CPU cannot run, is an error. Kernels take a Target as a value: nothing here
// changes while running, so tests can walk through all targets in one process.
//
// "avx512dl" is "avx512" but for matrix products of integers, which it forms by the 16-bit pair-dots (VNNI) and 52-bit
// multiply-adds (IFMA, with VBMI) that began with Ice Lake. Intel's CPUs do those at full rate, and 32- and 64-bit
// multiplications at a half and a third of it. AMD's CPUs (Zen 4 and 5) do all of them at full rate, so that there a
// multiplication and an addition are faster: "avx512" is their default. "avx512dl" also moves bytes by VBMI, and where
// the CPU has AVX512-FP16 (Sapphire Rapids and later), multiplies f16 by it; on AMD's CPUs so does "avx512". The bits
// are the same.
//
// "amx" is "avx512dl" but for matrix products of bfloat16 and of integers, which take the matrix registers of Intel's
// CPUs from Sapphire Rapids on. Linux wants to be asked for them, once for a process. Sums of bfloat16 are added in
// another order (docs/numerics.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace binet {

struct Target {
  std::string_view
      name;  ///< the spelling of BINET_TARGET: "amx", "avx512dl", "avx512", "avx2", "sse4", "neon", "portable"
  std::int64_t highway = 0;     ///< Highway's bit for it; a source not compiled for it has the next best one
  std::string_view needs = {};  ///< what the CPU must have, for people

  friend bool operator==(const Target& a, const Target& b) noexcept { return a.highway == b.highway; }
};

/// Every target compiled into this build, best first.
[[nodiscard]] std::span<const Target> compiled_targets() noexcept;

/// Those of them that this CPU can run, best first; "portable" is always among them.
[[nodiscard]] std::span<const Target> supported_targets();

/// Whether the target has the matrix registers: "amx" has.
[[nodiscard]] bool has_amx(const Target& target) noexcept;

/// Whether this CPU computes in f16 (AVX512-FP16) and the target makes use of it: "avx512dl" and "amx" do, and "avx512"
/// on AMD's CPUs.
[[nodiscard]] bool has_f16_arithmetic(const Target& target) noexcept;

/// Whether one instruction moves bytes to any places of a vector (AVX-512 VBMI), for the same targets.
[[nodiscard]] bool has_byte_permutes(const Target& target) noexcept;

/// Whether an instruction on vectors of the target takes the time of two on half a vector: "avx512" on AMD's Zen 4.
[[nodiscard]] bool has_units_of_half_vectors(const Target& target) noexcept;

/// The same of vectors of 512 bits, whatever the target.
[[nodiscard]] bool has_units_of_half_vectors() noexcept;

/// Whether this is one of Intel's CPUs with AVX-512, whatever the target: what gains on AMD's often loses there.
[[nodiscard]] bool is_intel_with_avx512() noexcept;

/// The target whose vectors convert f16 fastest: where units are half a vector wide, one conversion of 512 bits even
/// takes longer than two of 256, and it is "avx2"; else the target itself.
[[nodiscard]] const Target& target_for_f16_conversions(const Target& target);

/// Whether vectors multiply pairs of bfloat16 in the time of an f32 multiply-add: with "avx512" AMD's CPUs do, from
/// Zen 4 on.
[[nodiscard]] bool has_fast_pair_dots(const Target& target) noexcept;

/// The target named by BINET_TARGET, else the best one for this CPU; read once. Throws Error on a name that cannot be
/// used.
[[nodiscard]] const Target& default_target();

/// The supported target of that name; throws Error that lists the supported ones.
[[nodiscard]] const Target& target_from_name(std::string_view name);

}  // namespace binet
