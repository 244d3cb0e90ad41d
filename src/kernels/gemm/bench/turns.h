// Benchmark: measuring several programs by turns, so that a change of the clock or of the machine's load meets all.
#pragma once

#include <functional>
#include <vector>

namespace binet::kernels::gemm::bench {

struct Effort {
  int rounds = 9;
  double turn_seconds =
      5e-4;  ///< at least, by as many calls as it takes: for the clock, and to forget the others' data
};

struct Contestant {
  std::function<void()> run;
  double seconds = 0;  ///< of one call: a first estimate, then the median of the rounds
};

/// Estimates the time of one call, after one that does not count.
[[nodiscard]] double estimate(const std::function<void()>& run, int threads);

/// Measures all of them. On one thread only the time that the thread itself has run counts. On several threads, where
/// that is not to be had, a measurement during which other programs ran is made again, a few times at most; returns
/// whether the last one was undisturbed.
bool measure(std::vector<Contestant*> contestants, int threads, const Effort& effort);

}  // namespace binet::kernels::gemm::bench
