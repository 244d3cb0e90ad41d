// Room: kernels, benchmarks only. What is measured, and what is wanted of each case.
#pragma once

#include <string>
#include <vector>

#include "binet/element_type.h"
#include "binet/tensor.h"

namespace binet::kernels::elementwise::bench {

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
};

[[nodiscard]] std::vector<Case> all_cases();

}  // namespace binet::kernels::elementwise::bench
