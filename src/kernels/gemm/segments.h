// Room: kernels. A long k with few columns is cut into segments, each with sums of its own, added in order at the end.
//
// Otherwise one chain of multiply-adds per element would be all there is to do at a time, and threads could not share
// it. The cut follows from K and N alone, so that the bits of a row depend on neither M nor the threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/kernels.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

struct Segments {
  std::int64_t count = 1;
  std::int64_t k = 0;  ///< of each, but for the last
};

[[nodiscard]] Segments segments_of(const Problem& problem) noexcept;

/// Sums of one segment after the other, `rows` rows of `row_step` sums each, of which n count; they become Y.
struct SegmentSums {
  std::byte* first = nullptr;
  std::int64_t count = 1, rows = 0, n = 0, row_step = 0;
};
void finish_segments(const SegmentSums& sums, const Kernels& kernels, const Output& output, const Scale& scale,
                     const ThreadPool& pool);

/// The output from (row, column) on.
[[nodiscard]] Output part_of(const Output& output, std::int64_t row, std::int64_t column,
                             const Kernels& kernels) noexcept;

}  // namespace binet::kernels::gemm
