#include "kernels/elementwise/bench/plain_loops.h"

#include <type_traits>

#ifndef BINET_PLAIN
#define BINET_PLAIN plain
#define BINET_PLAIN_BASELINE
#endif

namespace binet::kernels::elementwise::bench::BINET_PLAIN {
namespace {

using Loop = BroadcastLoop;

template <class T>
T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    using Wide = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
}

/// The four innermost loops.
template <class T, bool kAMoves, bool kBMoves>
void nest(const Loop* loops, const T* a, const T* b, T* __restrict y) {
  const std::int64_t n = loops[3].extent;
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    for (std::int64_t j = 0; j < loops[1].extent; ++j) {
      for (std::int64_t k = 0; k < loops[2].extent; ++k) {
        const T* __restrict p = a + i * loops[0].a_step + j * loops[1].a_step + k * loops[2].a_step;
        const T* __restrict q = b + i * loops[0].b_step + j * loops[1].b_step + k * loops[2].b_step;
        for (std::int64_t l = 0; l < n; ++l) y[l] = product(p[kAMoves ? l : 0], q[kBMoves ? l : 0]);
        y += n;
      }
    }
  }
}

template <class T>
void walk(const Loop* loops, std::size_t depth, const T* a, const T* b, T* y) {
  if (depth == 4) {
    if (loops[3].a_step == 0) return nest<T, false, true>(loops, a, b, y);
    if (loops[3].b_step == 0) return nest<T, true, false>(loops, a, b, y);
    return nest<T, true, true>(loops, a, b, y);
  }
  std::int64_t inner = 1;
  for (std::size_t k = 1; k < depth; ++k) inner *= loops[k].extent;
  for (std::int64_t i = 0; i < loops[0].extent; ++i) {
    walk(loops + 1, depth - 1, a + i * loops[0].a_step, b + i * loops[0].b_step, y + i * inner);
  }
}

/// Cut at the outermost loop.
template <class T>
void all(const Operands& p, const ThreadPool& pool) {
  Loop loops[8];
  const std::size_t depth = std::max<std::size_t>(p.plan.loops.size(), 4);
  for (std::size_t k = 0; k < p.plan.loops.size(); ++k) loops[depth - p.plan.loops.size() + k] = p.plan.loops[k];
  const std::size_t cut = depth - p.plan.loops.size();
  const std::int64_t inner = p.plan.elements / loops[cut].extent;
  in_parallel(pool, loops[cut].extent, [&](std::int64_t begin, std::int64_t count) {
    Loop part[8];
    std::copy(std::begin(loops), std::end(loops), std::begin(part));
    part[cut].extent = count;
    walk(part, depth, reinterpret_cast<const T*>(p.a.data()) + begin * part[cut].a_step,
         reinterpret_cast<const T*>(p.b.data()) + begin * part[cut].b_step,
         reinterpret_cast<T*>(p.y.data()) + begin * inner);
  });
}

}  // namespace

#ifdef BINET_PLAIN_BASELINE
bool supports(ElementType type) { return type != ElementType::f16 && type != ElementType::bf16; }
#endif

void multiply(const Operands& p, const ThreadPool& pool) {
  visit_numeric_type(p.type, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) all<T>(p, pool);
  });
}

}  // namespace binet::kernels::elementwise::bench::BINET_PLAIN
