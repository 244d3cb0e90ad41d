// Benchmarks: what the machine can do at most.
#pragma once

#include <cstdint>

#include "base/target.h"

namespace binet::kernels::gemm {

/// Independent multiply-adds in registers, `rounds` times; returns how many floating-point operations that were.
double multiply_add_f32(std::int64_t rounds, const Target& target);
double multiply_add_f64(std::int64_t rounds, const Target& target);

}  // namespace binet::kernels::gemm
