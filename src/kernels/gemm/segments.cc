#include "kernels/gemm/segments.h"

#include <algorithm>
#include <cstring>

#include "base/aligned_buffer.h"

namespace binet::kernels::gemm {
namespace {

constexpr std::int64_t kMostColumns = 64;
constexpr std::int64_t kLeastK = 4096;  // of a segment
constexpr std::int64_t kMostSegments = 8;
// Every form of packing puts together a divisor of it.
constexpr std::int64_t kUnit = 64;

template <class Sum>
void add(Sum* to, const Sum* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

void add_sums(const Kernels& kernels, std::byte* to, const std::byte* from, std::int64_t count) {
  const bool is_wide = kernels.accumulator_bytes == 8;
  if (is_integer(kernels.type)) {
    if (is_wide) return add(reinterpret_cast<std::uint64_t*>(to), reinterpret_cast<const std::uint64_t*>(from), count);
    return add(reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(from), count);
  }
  if (is_wide) return add(reinterpret_cast<double*>(to), reinterpret_cast<const double*>(from), count);
  add(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), count);
}

}  // namespace

Segments segments_of(const Problem& p) noexcept {
  const std::int64_t count = p.n > kMostColumns ? 1 : std::clamp<std::int64_t>(p.k / kLeastK, 1, kMostSegments);
  if (count == 1) return {1, p.k};
  const std::int64_t k = ((p.k + count - 1) / count + kUnit - 1) / kUnit * kUnit;
  return {(p.k + k - 1) / k, k};
}

Output part_of(const Output& output, std::int64_t row, std::int64_t column, const Kernels& kernels) noexcept {
  Output part = output;
  part.y += (row * output.y_row_step + column * output.y_column_step) * kernels.element_bytes;
  if (part.c != nullptr) {
    part.c += (row * output.c_row_step + column * output.c_column_step) * kernels.element_bytes;
  }
  return part;
}

void finish_segments(const SegmentSums& sums, const Kernels& kernels, const Output& output, const Scale& scale,
                     const ThreadPool& pool) {
  constexpr std::int64_t kSumsTogether = 2048;  // they stay in the first-level cache
  const std::int64_t rows_together = std::max<std::int64_t>(1, kSumsTogether / sums.row_step);
  const std::int64_t row_bytes = sums.row_step * kernels.accumulator_bytes;
  pool.run((sums.rows + rows_together - 1) / rows_together, [&](std::int64_t task) {
    const std::int64_t row = task * rows_together;
    const std::int64_t rows = std::min(rows_together, sums.rows - row);
    // Not in place: the last vector of a row may reach beyond it, where another thread adds.
    alignas(kCacheLine) std::byte total[kSumsTogether * sizeof(std::uint64_t) + kCacheLine];
    const std::byte* segment = sums.first + row * row_bytes;
    std::memcpy(total, segment, static_cast<std::size_t>(rows * row_bytes));
    for (std::int64_t s = 1; s < sums.count; ++s) {
      segment += sums.rows * row_bytes;
      add_sums(kernels, total, segment, rows * sums.row_step);
    }
    kernels.finish(total, sums.row_step, rows, sums.n, output, row, 0, scale);
  });
}

}  // namespace binet::kernels::gemm
