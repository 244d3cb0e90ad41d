// Benchmark: what is printed: one line for each case and kind of B, and what they come to.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/gemm/bench/comparison.h"

namespace binet::kernels::gemm::bench {

class Report {
 public:
  explicit Report(std::span<const Peer> peers) : peers_(peers) {}

  /// The libraries and the machine's peaks.
  void print_head() const;

  /// f32 and f64: beside the other libraries.
  void begin_comparisons() const;
  void add(const Comparison& comparison);

  /// The other types: beside Binet's own f32 and the peaks.
  void begin_types() const;
  void add_type(const Comparison& comparison);

  /// Geometric mean and worst of the comparisons, by type and threads.
  void print_summary() const;

  [[nodiscard]] bool all_results_agree() const { return all_agree_; }

 private:
  struct Ratio {
    Case c;
    const char* kind_of_b;
    double value;
  };
  void print_wrong(const Comparison& comparison);

  std::span<const Peer> peers_;
  std::vector<Ratio> ratios_;
  bool all_agree_ = true;
};

}  // namespace binet::kernels::gemm::bench
