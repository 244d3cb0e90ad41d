// Tests: in which order the products of one sum are added: what is promised (gemm.h), as plain loops that follow it
// step by step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {

enum class Order : std::uint8_t {
  chain,
  pairs,  ///< pairs-inl.h: a chain of even k and one of odd k
  dots,   ///< dots-inl.h: as many chains as there are lanes in 64 bytes
  tiles,  ///< tiled/amx_bf16-inl.h: for each group of 32 k, a chain of the even ones and one of the odd ones
};

/// Chains side by side, the k-th product going to chain k modulo their number; added by halves.
template <std::size_t kBytes, class Sum, class Add>
Sum sum_of_lanes(std::int64_t first, std::int64_t end, const Add& add) {
  constexpr std::size_t kPartials = kBytes / sizeof(Sum);
  std::array<Sum, kPartials> partial{};
  for (std::int64_t k = first; k < end; ++k) {
    Sum& sum = partial[static_cast<std::size_t>(k - first) % kPartials];
    sum = add(sum, k);
  }
  for (std::size_t half = kPartials / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) partial[i] += partial[i + half];
  }
  return partial[0];
}

template <class Sum, class Add>
Sum sum_of_pairs(std::int64_t first, std::int64_t end, const Add& add) {
  std::array<Sum, 2> chains{};
  for (std::int64_t k = first; k < end; ++k) {
    Sum& chain = chains[static_cast<std::size_t>(k - first) % 2];
    chain = add(chain, k);
  }
  return chains[0] + chains[1];
}

template <class Sum, class Add>
Sum sum_of_groups(std::int64_t first, std::int64_t end, const Add& add) {
  constexpr std::int64_t kGroup = 32;
  Sum sum{};
  for (std::int64_t group = first; group < end; group += kGroup) {
    std::array<Sum, 2> chains{};
    for (std::int64_t k = group; k < group + kGroup && k < end; ++k) {
      Sum& chain = chains[static_cast<std::size_t>(k - group) % 2];
      chain = add(chain, k);
    }
    sum += chains[0] + chains[1];
  }
  return sum;
}

/// One range of k, by `add(sum, k)`.
template <class Sum, class Add>
Sum sum_of_range(Order order, std::int64_t first, std::int64_t end, const Add& add) {
  if (order == Order::pairs) return sum_of_pairs<Sum>(first, end, add);
  if (order == Order::dots) return sum_of_lanes<64, Sum>(first, end, add);
  if (order == Order::tiles) return sum_of_groups<Sum>(first, end, add);
  Sum sum{};
  for (std::int64_t k = first; k < end; ++k) sum = add(sum, k);
  return sum;
}

/// The sum over all k, where `add(sum, k)` adds the k-th product to a sum.
template <class Sum, class Add>
Sum sum_in_order(const Problem& problem, Order order, const Add& add) {
  const Segments segments = segments_of(problem);
  Sum total{};
  for (std::int64_t s = 0; s < segments.count; ++s) {
    const std::int64_t end = s + 1 == segments.count ? problem.k : (s + 1) * segments.k;
    const Sum sum = sum_of_range<Sum>(order, s * segments.k, end, add);
    total = s == 0 ? sum : total + sum;
  }
  return total;
}

/// On vectors.
[[nodiscard]] inline Order order_of(const Problem& problem) noexcept {
  if (takes_pairs(problem)) return Order::pairs;
  return takes_dots(problem) ? Order::dots : Order::chain;
}

}  // namespace binet::kernels::gemm
