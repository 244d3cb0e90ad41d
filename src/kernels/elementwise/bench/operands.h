// Room: kernels, benchmarks only. The memory of one case: operands and result, which all contestants share.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/element_types.h"
#include "kernels/elementwise/elementwise.h"
#include "tensor/broadcast.h"
#include "threads/thread_pool.h"

namespace binet::kernels::elementwise::bench {

/// Runs loop(begin, count) over [0, n), cut as evenly as a person would, one part for each thread of the pool.
template <class Loop>
void in_parallel(const ThreadPool& pool, std::int64_t n, const Loop& loop) {
  const std::int64_t parts = pool.threads();
  if (parts == 1) return loop(std::int64_t{0}, n);
  pool.run(parts, [&](std::int64_t part) {
    const std::int64_t begin = n * part / parts;
    loop(begin, n * (part + 1) / parts - begin);
  });
}

inline std::int64_t count_elements(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

/// Numbers from 0.5 to 1.5, so that no loop is slowed down by subnormals; integers of any value.
inline AlignedBuffer random_elements(ElementType type, std::int64_t count, std::uint64_t seed) {
  AlignedBuffer buffer(static_cast<std::size_t>(count) * byte_size(type));
  std::uint64_t state = seed;
  visit_numeric_type(type, [&]<class T>() {
    for (std::int64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      T value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(state >> 16);
      } else {
        const double number = 0.5 + static_cast<double>(state >> 32) * 0x1p-32;
        if constexpr (std::is_floating_point_v<T>) {
          value = static_cast<T>(number);
        } else {
          value = T::from_double(number);
        }
      }
      std::memcpy(buffer.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
  });
  return buffer;
}

/// All shapes of the same rank. The operands differ: equal ones would combine to zeros, which some CPUs move faster
/// than other bytes. Every page of y is touched, or the first contestant would pay for them.
struct Operands {
  Operands(ElementType element_type, const Shape& a_shape, const Shape& b_shape)
      : type(element_type),
        size(static_cast<std::int64_t>(byte_size(type))),
        plan(plan_broadcast(a_shape, b_shape)),
        a(random_elements(type, count_elements(a_shape), 1)),
        b(random_elements(type, count_elements(b_shape), 2)),
        y(static_cast<std::size_t>(plan.elements * size)) {
    std::memset(y.data(), 1, y.size());
  }

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(a.size() + b.size() + y.size()); }

  ElementType type;
  std::int64_t size;  ///< of an element, in bytes
  BroadcastPlan plan;
  AlignedBuffer a;
  AlignedBuffer b;
  AlignedBuffer y;
};

}  // namespace binet::kernels::elementwise::bench
