// Benchmark: matrices of random elements, and whether two results agree.
#pragma once

#include <string>

#include "base/aligned_buffer.h"
#include "kernels/gemm/bench/case.h"

namespace binet::kernels::gemm::bench {

/// A, B, C and Y of a case. Each begins at a cache line, at different places within a page.
class Matrices {
 public:
  explicit Matrices(const Case& c);

  [[nodiscard]] Operands operands() const { return {at(0), at(1), at(2), at(3)}; }
  /// Fills Y with a pattern that no product gives.
  void spoil_y() const;
  /// Remembers Y as the right result.
  void keep_y();
  /// Nothing if Y is what was kept, but for rounding; else where it differs first.
  [[nodiscard]] std::string differences() const;

 private:
  [[nodiscard]] std::byte* at(int matrix) const;
  Case case_;
  std::size_t sizes_[4];
  AlignedBuffer buffers_[4];
  AlignedBuffer kept_;
};

}  // namespace binet::kernels::gemm::bench
