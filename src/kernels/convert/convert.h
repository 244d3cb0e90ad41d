// Room: kernels. The conversion family: each element of x as another element type.
//
// In: elements of one of the twelve numeric types, at any alignment, or of i4 or u4, packed two to a byte with the
// first in the low half. Out: as many elements of another such type. Numerics (docs/numerics.md):
//  - integer to integer: modulo 2^n of the new type;
//  - integer or float to float: rounded once to nearest even; what is too large becomes an infinity;
//  - float to integer: cut towards zero; what lies outside of the new type's range becomes the nearest end of it, and
//    a NaN becomes 0.
//
// Promised: no allocation, no error. x and y do not overlap. The half byte behind an odd number of 4-bit elements is 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "binet/element_type.h"
#include "threads/thread_pool.h"

namespace binet::kernels::convert {

/// Converts the elements [begin, end) of x into those of y; `begin` is even.
using ConvertFunction = void (*)(const std::byte* x, std::byte* y, std::int64_t begin, std::int64_t end);

/// The kernel between two types; null if one of them is neither numeric nor i4 nor u4.
[[nodiscard]] ConvertFunction find_kernel(ElementType from, ElementType to);

/// Converts all elements, on as many threads of the pool as their number pays for.
void run(ConvertFunction kernel, std::int64_t elements, const std::byte* x, std::byte* y, const ThreadPool& pool);

}  // namespace binet::kernels::convert
