#include "kernels/elementwise/plain_loops.h"

#include <type_traits>

#ifndef BINET_PLAIN
#define BINET_PLAIN plain
#endif

namespace binet::kernels::elementwise::BINET_PLAIN {
namespace {

template <bool kAMoves, bool kBMoves>
void nest(const BroadcastLoop (&loops)[4], const float* a, const float* b, float* __restrict y) {
  const std::int64_t n = loops[3].extent;
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    for (std::int64_t j = 0; j < loops[1].extent; ++j) {
      for (std::int64_t k = 0; k < loops[2].extent; ++k) {
        const float* __restrict p = a + i * loops[0].a_step + j * loops[1].a_step + k * loops[2].a_step;
        const float* __restrict q = b + i * loops[0].b_step + j * loops[1].b_step + k * loops[2].b_step;
        for (std::int64_t l = 0; l < n; ++l) y[l] = p[kAMoves ? l : 0] * q[kBMoves ? l : 0];
        y += n;
      }
    }
  }
}

}  // namespace

template <class T>
void multiply(const T* __restrict a, const T* __restrict b, T* __restrict y, std::size_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    for (std::size_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
  } else {
    using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, T>;
    for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<T>(static_cast<Wide>(a[i]) * static_cast<Wide>(b[i]));
  }
}

template void multiply(const float*, const float*, float*, std::size_t);
template void multiply(const double*, const double*, double*, std::size_t);
template void multiply(const std::uint8_t*, const std::uint8_t*, std::uint8_t*, std::size_t);
template void multiply(const std::uint16_t*, const std::uint16_t*, std::uint16_t*, std::size_t);
template void multiply(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::size_t);
template void multiply(const std::uint64_t*, const std::uint64_t*, std::uint64_t*, std::size_t);

void multiply(const BroadcastLoop (&loops)[4], const float* a, const float* b, float* y) {
  if (loops[3].a_step == 0) return nest<false, true>(loops, a, b, y);
  if (loops[3].b_step == 0) return nest<true, false>(loops, a, b, y);
  nest<true, true>(loops, a, b, y);
}

}  // namespace binet::kernels::elementwise::BINET_PLAIN
