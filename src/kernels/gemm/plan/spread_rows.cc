#include "kernels/gemm/plan/spread_rows.h"

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Measured on Zen 3. Rows that meet: 0.77 to 1.0 of the time, 0.95 in the mean. A smaller B meets in too few lines to
// be driven out, of a larger one strips are packed, and fewer rows of Y do not repay the copy, which one thread makes
// for all.
constexpr std::int64_t kFewestRows = 500;
constexpr std::int64_t kLeastBytes = 32 * 1024, kMostBytes = 256 * 1024;
// Rows off lines: 0.82 to 1.05 of the time, 0.95 in the mean. With a shorter K a strip stays near even so.
constexpr std::int64_t kLeastKOffLines = 180, kMostBytesOffLines = 128 * 1024;
constexpr std::int64_t kFewestRowsOffLines = 64, kFewestRowsOf64BitsOffLines = 200;
// Rows of whole lines that begin off lines: 0.8 to 1.02 of the time, 0.97 in the mean, with numbers of 32 bits; with 64
// bits nothing is gained.
constexpr std::int64_t kFewestRowsOfLines = 32;

bool is_given_for_short_vectors(const Problem& p, const Kernels& kernels) {
  return kernels.has_short_vectors && !kernels.widens() && p.b_column_step == 1 && !p.b_has_whole_vectors;
}

}  // namespace

bool may_spread_rows(const Problem& p, const Kernels& kernels, int threads) {
  if (!is_given_for_short_vectors(p, kernels)) return false;
  const std::int64_t bytes = p.n * p.k * kernels.element_bytes;
  if (bytes < kLeastBytes) return false;
  if (p.b_row_step * kernels.element_bytes % kLineBytes != 0) {
    const std::int64_t fewest = kernels.element_bytes == 8 ? kFewestRowsOf64BitsOffLines : kFewestRowsOffLines;
    return p.k >= kLeastKOffLines && bytes <= kMostBytesOffLines && p.m >= fewest * threads;
  }
  return p.m >= kFewestRows * threads && bytes <= kMostBytes && with_rows_apart(p, kernels).b_row_step != p.b_row_step;
}

bool may_copy_b_off_lines(const Problem& p, const Kernels& kernels, int threads) {
  if (!is_given_for_short_vectors(p, kernels) || kernels.element_bytes != 4 || p.n <= kernels.nr) return false;
  if (p.b_row_step * kernels.element_bytes % kLineBytes != 0) return false;
  return p.n * p.k * kernels.element_bytes <= kMostBytesOffLines && p.m >= kFewestRowsOfLines * threads;
}

}  // namespace binet::kernels::gemm
