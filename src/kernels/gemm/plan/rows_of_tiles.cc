#include "kernels/gemm/plan/rows_of_tiles.h"

#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/far_y.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

// Measured on Zen 3. Beside products at once, with B where it lies, they take 0.41 to 0.75 of the time if rows meet in
// the same sets of the caches, from a few tiles of rows on; else, or if they meet in twice as many sets, 0.75 to 0.98,
// and more rows have to repay the packing of B, which each worker does for itself.
constexpr std::int64_t kMostK = 160;
constexpr std::int64_t kFewestRowsIfTheyMeet = 32, kFewestRows = 128;
constexpr std::int64_t kLeastRowBytes = 1500, kLongRowBytes = 6000;
constexpr std::int64_t kLeastKOfOtherRows = 96;
// 64-bit integers have a call for each tile.
constexpr std::int64_t kLeastKOfTilesApart = 8;
// A far Y is better streamed (far_y.h), with so little to compute for each element, or for each row.
constexpr std::int64_t kMostKToStream = 6, kMostProductsBytesToStream = 24 * 1024;

}  // namespace

bool gains_by_rows_of_tiles(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!kernels.has_short_vectors || kernels.widens()) return false;
  if (p.b_column_step != 1 || p.k > kMostK || has_factors(p)) return false;
  const bool is_placed_apart = !is_float(p.type) && kernels.element_bytes == 8;
  if (is_placed_apart && p.k < kLeastKOfTilesApart) return false;
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  const bool are_few = p.k <= kMostKToStream || p.k * row_bytes <= kMostProductsBytesToStream;
  if (are_few && streams_far_rows(p, kernels, workers)) return false;
  if (row_bytes % kAliasBytes == 0) return p.m >= kFewestRowsIfTheyMeet * workers;
  if (is_placed_apart || p.m < kFewestRows * workers * workers || row_bytes < kLeastRowBytes) return false;
  return row_bytes >= kLongRowBytes || row_bytes % (kAliasBytes / 2) == 0 || p.k >= kLeastKOfOtherRows;
}

}  // namespace binet::kernels::gemm
