// Room: kernels, benchmarks only. What a person writes without a library: loops that the compiler vectorizes. Compiled
// twice, for the build's baseline and for the machine at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/broadcast.h"

namespace binet::kernels::elementwise {

namespace plain {
template <class T>
void multiply(const T* a, const T* b, T* y, std::size_t n);
void multiply(const BroadcastLoop (&loops)[4], const float* a, const float* b, float* y);
}  // namespace plain

namespace plain_native {
template <class T>
void multiply(const T* a, const T* b, T* y, std::size_t n);
void multiply(const BroadcastLoop (&loops)[4], const float* a, const float* b, float* y);
}  // namespace plain_native

}  // namespace binet::kernels::elementwise
