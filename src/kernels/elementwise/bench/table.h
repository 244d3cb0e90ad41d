// Room: kernels, benchmarks only. The results as people read them: one line a case, then the cases that miss what is
// wanted of them.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/elementwise/bench/cases.h"

namespace binet::kernels::elementwise::bench {

struct Result {
  Case test;
  /// Seconds of a call; 0 where there is none.
  double binet = 0, copy = 0, multiply = 0, fetching = 0, streaming = 0, plain = 0, plain_native = 0, eigen = 0,
         onednn = 0, arithmetic = 0;

  /// The fastest of the three loops made by hand that multiply over the time of the product.
  [[nodiscard]] double of_limit() const { return limit() / binet; }
  [[nodiscard]] double limit() const { return std::min({multiply, fetching, streaming}); }
  /// The same for the loop that only computes; 0 where there is none.
  [[nodiscard]] double of_arithmetic() const { return arithmetic / binet; }
  /// The least time of the peers over the time of the product; 0 without any. The native loop is for information.
  [[nodiscard]] double to_best_peer() const;
};

/// Prints results as they come: add() is called while the benchmark runs, ReportRuns after it.
class Table : public benchmark::BenchmarkReporter {
 public:
  void add(const Result& result) { results_.push_back(result); }

  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  void Finalize() override;

 private:
  std::vector<Result> results_;
};

}  // namespace binet::kernels::elementwise::bench
