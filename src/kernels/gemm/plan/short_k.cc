#include "kernels/gemm/plan/short_k.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/far_y.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

// One row or two use what has been loaded of B too rarely, and a few that are short, or have little to compute.
constexpr std::int64_t kFewestRows = 3;
constexpr std::int64_t kFewestShortRows = 8;
constexpr std::int64_t kLeastKOfFewRows = 2;
// Half a vector of columns behind a whole one goes apart in tiles, which a longer K prefers.
constexpr std::int64_t kMostKBeforeHalf = 6;

// Fewer rows of f32 have a longer K sooner from tiles of as many: on Zen 5 in 0.7 to 1.0 of the time.
constexpr std::int64_t kFewestRowsOfLongerK = 7, kLongerK = 9;

// Measured on Zen 5 with two threads: 0.3 to 1.0 of the time that they take with some rows each; for more rows 1.1 to 5
// times as long.
constexpr std::int64_t kColumnsForEachRowToShare = 32;

// On Intel's CPUs with AVX-512. A row of one vector is one chain of k instructions, of two vectors two. So few may wait
// for another at a time, fewer yet beside another thread, that long chains of too few rows hide each other's latency;
// those of half a vector are as long, but the rest of a row takes more of the time. A Y beyond L1 waits for its stores.
constexpr std::int64_t kMostKOfChain = 8;
constexpr std::int64_t kMostKOfChainOfHalf = 12;
constexpr std::int64_t kLeastYOfLongChains = 512 * 1024;
// Three vectors by themselves are better off in tiles of as many while Y is near and k is so short.
constexpr std::int64_t kNearYBytes = 48 * 1024;
constexpr std::int64_t kMostBytesOfShortestK = 16;
// Panels side by side write a few lines of each row at a time. That takes longer than the tiles that write as many rows
// from end to end once Y fills a part of the second-level cache, the sooner the shorter k is, unless they are whole
// lines.
constexpr std::int64_t kMostKOfNearY = 6;

std::int64_t most_y_of_panels(const Problem& p, const Kernels& kernels) {
  const std::int64_t cache = second_level_cache_bytes();
  if (p.n * kernels.element_bytes % kLineBytes == 0) return cache;
  return p.k == 1 ? cache / 8 : p.k * kernels.element_bytes <= kMostBytesOfShortestK ? cache / 2 : cache;
}

bool gains_on_intel(const Problem& p, const Kernels& kernels) {
  if (p.n <= kernels.lanes) return p.k <= (p.n * 2 <= kernels.lanes ? kMostKOfChainOfHalf : kMostKOfChain);
  const std::int64_t y_bytes = p.m * p.n * kernels.element_bytes;
  if (p.k > kMostKOfChain) return y_bytes >= kLeastYOfLongChains;
  const std::int64_t vectors = most_vectors_of_short_k(p.k);
  if (is_one_panel_of_short_k(p.n, vectors, kernels.lanes)) return true;
  const bool are_three = p.n <= vectors * kernels.lanes;
  if (are_three && p.k * kernels.element_bytes <= kMostBytesOfShortestK && y_bytes <= kNearYBytes) return false;
  return p.k > kMostKOfNearY || y_bytes <= most_y_of_panels(p, kernels);
}

// Beyond the first-level cache Intel's CPUs take longer for what lies across two lines, as parts of vectors do less
// often; but not if stores are all there is to a row.
constexpr std::int64_t kMostBytesOfWholeEnds = 32 * 1024;
constexpr std::int64_t kLeastKOfMaskedEnds = 2;

// Panels side by side write a few lines of each row at a time, and of a full C read as many: with so long rows, if Y is
// not near, on more pages than there is room for in the TLB.
constexpr std::int64_t kLongRowBytes = 32 * 1024, kLongRowBytesWithC = 6000;

/// Vectors of half a line have no masks that would not cost more than they save. Where rows of Y meet in few sets of a
/// cache, whole rows of tiles are better (rows_of_tiles.h), and blocks of rows for a full C from afar. Elsewhere it
/// takes 0.35 to 0.95 of the time, with K = 5 and 6 in f32 up to 1.05. (Measured on Zen 3.)
bool may_keep_b_in_short_vectors(const Problem& p, const Kernels& kernels) {
  if (p.n < kernels.lanes || many_rows_meet(p.y_row_step * kernels.element_bytes)) return false;
  const bool is_c_full = adds_full_c(p);
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  const bool are_long = row_bytes > (is_c_full ? kLongRowBytesWithC : kLongRowBytes);
  if (are_long && p.m * row_bytes > second_level_cache_bytes()) return false;
  return !is_c_full || !reads_far_rows_first(p, kernels);
}

// Tiles apply factors to fewer sums, or in fewer rows, before a passage over Y would have what was stored last: a part
// of a vector takes longest.
constexpr std::int64_t kFewestRowsToEndApart = 8, kFewestSumsToEndApart = 129, kLeastBytesInPartOfVector = 3200;

/// Factors are applied in a passage over Y, while it is near.
bool may_end_apart(const Problem& p, const Kernels& kernels) {
  const std::int64_t sums = p.m * p.n, bytes = sums * kernels.element_bytes;
  if (p.m < kFewestRowsToEndApart || sums < kFewestSumsToEndApart) return false;
  if (sums % kernels.lanes != 0 && bytes < kLeastBytesInPartOfVector) return false;
  return ends_as_one_run(p) && bytes <= kNearYBytes;
}

bool are_few_for_longer_k(const Problem& p, const Kernels& kernels) {
  if (!follows_one_run_best(kernels) || p.type != ElementType::f32) return false;
  return p.m < kFewestRowsOfLongerK && p.k >= kLongerK;
}

}  // namespace

bool keeps_b_in_registers(const Problem& p, const Kernels& kernels) {
  const std::int64_t most_k = p.n <= kernels.lanes ? kernels.most_short_k_of_vector : kernels.most_short_k;
  if (kernels.has_short_vectors && !may_keep_b_in_short_vectors(p, kernels)) return false;
  if (p.k > most_k || p.b_column_step != 1 || p.c_column_step > 1) return false;
  if (has_factors(p) && !may_end_apart(p, kernels)) return false;
  const bool are_short = p.n <= kernels.lanes;
  if (p.m < kFewestShortRows && (p.m < kFewestRows || are_short || p.k < kLeastKOfFewRows)) return false;
  if (!are_short && p.n <= kernels.lanes * 3 / 2 && p.k > kMostKBeforeHalf) return false;
  if (are_few_for_longer_k(p, kernels)) return false;
  return !is_intel_with_avx512() || gains_on_intel(p, kernels);
}

bool shares_columns(const Problem& p, const Kernels& kernels) {
  if (!follows_one_run_best(kernels) || p.n < kColumnsForEachRowToShare * p.m) return false;
  return !has_factors(p) && keeps_b_in_registers(p, kernels);
}

bool ends_by_masks(const Problem& p, const Kernels& kernels) {
  const std::int64_t y_bytes = p.m * p.n * kernels.element_bytes;
  return is_intel_with_avx512() && p.k >= kLeastKOfMaskedEnds && y_bytes > kMostBytesOfWholeEnds;
}

bool sums_keep_longer_b() { return !is_intel_with_avx512(); }

}  // namespace binet::kernels::gemm
