// Benchmark: one case, computed by Binet and by every way of every other library, by turns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/gemm/bench/case.h"
#include "kernels/gemm/bench/peer.h"
#include "kernels/gemm/bench/turns.h"

namespace binet::kernels::gemm::bench {

/// Seconds of one call, without and with what can be done beforehand with a B that never changes; 0: not measured.
struct Times {
  double given = 0, constant = 0;
};

struct Comparison {
  Case c;
  Times binet;
  Times beside;              ///< Binet's for the case beside it
  std::vector<Times> peers;  ///< of each library its best way, which with a constant B may be one that ignores that
  std::vector<std::string> wrong;  ///< libraries whose result differs from Binet's, and how
  bool is_disturbed = false;       ///< other programs took CPUs that were needed
  double peak = 0;                 ///< operations a second of as many cores: of multiply-adds of the type of the sums
  double peak_f32 = 0;
  double conversions = 0;  ///< seconds of those that f16 cannot do without; 0: not measured
};

/// `beside`: another case, such as the same shape of f32, that takes turns with this one, computed by Binet alone.
[[nodiscard]] Comparison compare(const Case& c, std::span<const Peer> peers, const std::optional<Case>& beside,
                                 const Effort& effort);

/// Operations of the product, two to a multiply-add.
[[nodiscard]] double operations(const Case& c);

}  // namespace binet::kernels::gemm::bench
