// Benchmark: what one core can do at most: independent multiply-adds whose operands stay in registers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/target.h"

namespace binet::kernels::gemm::bench {

struct Peak {
  std::string_view name;
  /// Runs `rounds` rounds and returns how many operations that were, two to a multiply-add.
  double (*run)(std::int64_t rounds, const Target& target);
  bool (*is_supported)();  ///< by this CPU
};

/// Multiply-adds of f32 and f64; of 32-bit and 64-bit integers as a multiplication and an addition.
extern const Peak kPeakF32, kPeakF64, kPeakU32, kPeakU64;

/// Of bf16, two products at a time, in vectors. Subnormals count as zero there.
extern const Peak kPeakPairsOfBF16;

/// Of bf16, and of integers of 32 and 64 bits from products of bytes, on the matrix registers.
extern const Peak kPeakAmxBF16, kPeakAmxU32, kPeakAmxU64;

/// All of the above that this CPU has, and the other instructions that AVX-512 has for products of 32-bit integers.
[[nodiscard]] std::span<const Peak> all_peaks();

}  // namespace binet::kernels::gemm::bench
