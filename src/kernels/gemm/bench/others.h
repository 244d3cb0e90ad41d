// Benchmark: whether other programs had CPUs that the measured one needed.
#pragma once

namespace binet::kernels::gemm::bench {

/// Watches from its construction on.
class Others {
 public:
  Others();
  /// Whether other programs have left fewer than `threads` CPUs to this one, by more than a few per cent of the time.
  [[nodiscard]] bool have_disturbed(int threads) const;

 private:
  double wall_, busy_, own_;
};

}  // namespace binet::kernels::gemm::bench
