// Room: kernels, benchmarks only. What a person writes without a library: loops that the compiler vectorizes. Compiled
// twice, for the build's baseline and for the machine at hand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/broadcast.h"

namespace binet::elementwise {

#define BINET_DECLARE_PLAIN_LOOPS(NAMESPACE)                                                \
  namespace NAMESPACE {                                                                     \
  template <class T>                                                                        \
  void multiply(const T* a, const T* b, T* y, std::size_t n);                               \
  void multiply(const BroadcastLoop (&loops)[4], const float* a, const float* b, float* y); \
  }
BINET_DECLARE_PLAIN_LOOPS(plain)
BINET_DECLARE_PLAIN_LOOPS(plain_native)
#undef BINET_DECLARE_PLAIN_LOOPS

}  // namespace binet::elementwise
