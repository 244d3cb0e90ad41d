#include "kernels/gemm/short_k.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/near_b.h"

namespace binet::kernels::gemm {
namespace {

// One row or two use what has been loaded of B too rarely, and a few that are short, or have little to compute.
constexpr std::int64_t kFewestRows = 3;
constexpr std::int64_t kFewestShortRows = 8;
constexpr std::int64_t kLeastKOfFewRows = 2;
// Half a vector of columns behind a whole one goes apart in tiles, which a longer K prefers.
constexpr std::int64_t kMostKBeforeHalf = 6;
// Shorter rows are one run of memory, which hardware prefetchers follow.
constexpr std::int64_t kLeastRowBytesToFetch = 1024;

}  // namespace

bool keeps_b_in_registers(const Problem& p, const Kernels& kernels) {
  if (p.k > kernels.most_short_k || p.b_column_step != 1 || p.c_column_step > 1) return false;
  const bool has_c = p.has_c && p.beta != 0.0f;
  if (p.alpha != 1.0f || (has_c && p.beta != 1.0f)) return false;
  const bool are_short = p.n <= kernels.lanes;
  if (p.m < kFewestShortRows && (p.m < kFewestRows || are_short || p.k < kLeastKOfFewRows)) return false;
  return are_short || p.n > kernels.lanes * 3 / 2 || p.k <= kMostKBeforeHalf;
}

bool fetches_far_y(const Problem& p, const Kernels& kernels) {
  if (!leaves_b_to_hardware(kernels) || has_units_of_half_vectors()) return false;
  const bool is_c_full = p.has_c && p.beta != 0.0f && p.c_row_step != 0 && p.c_column_step != 0;
  if (is_c_full || p.n * kernels.element_bytes < kLeastRowBytesToFetch) return false;
  return p.m * p.n * kernels.element_bytes > last_level_cache_bytes() / 8 * 5;
}

}  // namespace binet::kernels::gemm
