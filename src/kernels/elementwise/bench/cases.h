// Room: kernels, benchmarks only. What is measured, and what is wanted of each case.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binet/element_type.h"
#include "binet/tensor.h"

namespace binet::kernels::elementwise::bench {

inline constexpr ElementType kTypes[] = {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64,
                                         ElementType::i8,  ElementType::i16,  ElementType::i32, ElementType::i64,
                                         ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::u64};

struct Case {
  std::string name;
  ElementType type = ElementType::f32;
  Shape a;  ///< of the same rank as b
  Shape b;
  int threads = 1;
  /// Wanted: this share of the machine's limit, at most this time, at least as fast as each peer. 0: nothing.
  double of_limit = 0;
  double microseconds = 0;
  /// Timed from the call of binet::mul_into to its return, instead of the kernel alone.
  bool whole_call = false;
  /// Binet's operands and result, which are then others of the same size, begin so many bytes into a cache line.
  std::int64_t begin = 0;
};

/// What users have asked about, and others of the same kinds.
[[nodiscard]] std::vector<Case> all_cases();

/// One pair of shapes of the same rank that broadcast, on one thread and, where that should pay, on two.
[[nodiscard]] std::vector<Case> cases_of_pair(ElementType type, const Shape& a, const Shape& b);

/// `count` pairs of shapes of up to six axes, of any type and any way to broadcast. Results have from 16 elements to
/// 4 Mi, as many below 8 Ki as above. The same seed gives the same ones.
[[nodiscard]] std::vector<Case> random_cases(int count, std::uint64_t seed);

}  // namespace binet::kernels::elementwise::bench
