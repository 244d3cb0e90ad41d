// Room: kernels. In which order the products of one sum are added: the promise that the oracles follow step by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {

/// One range of k: a chain of `add(sum, k)`, or as many chains as dots-inl.h has.
template <class Sum, class Add>
Sum sum_of_range(bool by_dots, std::int64_t first, std::int64_t end, const Add& add) {
  constexpr std::size_t kPartials = 256 / sizeof(Sum);
  std::array<Sum, kPartials> partial{};
  for (std::int64_t k = first; k < end; ++k) {
    Sum& sum = partial[by_dots ? static_cast<std::size_t>(k - first) % kPartials : 0];
    sum = add(sum, k);
  }
  for (std::size_t half = kPartials / 2; by_dots && half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

/// The sum over all k, where `add(sum, k)` adds the k-th product to a sum.
template <class Sum, class Add>
Sum sum_in_order(const Problem& problem, const Add& add) {
  const bool by_dots = takes_dots(problem);
  const Segments segments = segments_of(problem);
  Sum total{};
  for (std::int64_t s = 0; s < segments.count; ++s) {
    const std::int64_t end = s + 1 == segments.count ? problem.k : (s + 1) * segments.k;
    const Sum sum = sum_of_range<Sum>(by_dots, s * segments.k, end, add);
    total = s == 0 ? sum : total + sum;
  }
  return total;
}

}  // namespace binet::kernels::gemm
