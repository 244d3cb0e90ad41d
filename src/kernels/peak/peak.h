// Room: kernels. Loops that do nothing but load the machine, to measure what it can do at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/target.h"
#include "binet/element_type.h"

namespace binet::kernels::peak {

/// `rounds` rounds of independent multiply-adds in registers, of f32 or f64; returns how many multiplications and
/// additions that were.
double multiply_add(ElementType type, std::int64_t rounds, const Target& target);

/// The same of matrix products on the target's matrix registers; 0 where there are none for the type.
double multiply_on_matrix_registers(ElementType type, std::int64_t rounds, const Target& target);

/// Reads all of the memory, whose address is that of a cache line. What is returned depends on every line, so that
/// reading cannot be left out.
std::uint64_t read(std::span<const std::byte> memory, const Target& target);

}  // namespace binet::kernels::peak
