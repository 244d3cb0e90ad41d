#include "kernels/gemm/whole_lines.h"

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Fewer rows leave too much for the three that are computed twice, and are written while they are near anyway.
constexpr std::int64_t kFewestRows = 12;
// What begins and ends a row must be a small part of it, the more so if tiles write whole lines as well.
constexpr std::int64_t kShortestRowBytes = 512;
constexpr std::int64_t kShortestRowBytesOfLines = 1024;
// With a single k tiles have so little to do that a Y in a core's own caches is written at once.
constexpr std::int64_t kLeastYBytesOfOneK = 512 * 1024;

}  // namespace

// Measured on AMD's Zen 4.
bool writes_whole_lines(const Problem& p, const Kernels& kernels) {
  if (p.k > kernels.most_k_of_whole_lines || !leaves_b_to_hardware(kernels)) return false;
  if (p.m < kFewestRows || p.b_column_step != 1 || p.c_column_step > 1) return false;
  const std::int64_t row_bytes = p.n * kernels.element_bytes, y_bytes = p.m * row_bytes;
  const bool are_lines = row_bytes % kLineBytes == 0;
  if (row_bytes < (are_lines ? kShortestRowBytesOfLines : kShortestRowBytes)) return false;
  if (p.k == 1 && y_bytes < kLeastYBytesOfOneK) return false;
  if (p.k * row_bytes > second_level_cache_bytes() / 2) return false;
  return are_lines || y_bytes <= last_level_cache_bytes() / 2;
}

std::int64_t rows_in_whole_lines(std::int64_t m, std::int64_t items) noexcept {
  std::int64_t rows = round_up(ceil_div(m, items), kRowsOfWholeLines);
  while (m % rows != 0 && m % rows < kRowsOfWholeLines) rows += kRowsOfWholeLines;
  return rows;
}

}  // namespace binet::kernels::gemm
