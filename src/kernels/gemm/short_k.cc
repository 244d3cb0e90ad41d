#include "kernels/gemm/short_k.h"

#include "kernels/gemm/kernels.h"

namespace binet::kernels::gemm {
namespace {

// One row or two use what has been loaded of B too rarely, and a few that are short, or have little to compute.
constexpr std::int64_t kFewestRows = 3;
constexpr std::int64_t kFewestShortRows = 8;
constexpr std::int64_t kLeastKOfFewRows = 2;
// Half a vector of columns behind a whole one goes apart in tiles, which a longer K prefers.
constexpr std::int64_t kMostKBeforeHalf = 6;

}  // namespace

bool keeps_b_in_registers(const Problem& p, const Kernels& kernels) {
  const std::int64_t most_k = p.n <= kernels.lanes ? kernels.most_short_k_of_vector : kernels.most_short_k;
  if (p.k > most_k || p.b_column_step != 1 || p.c_column_step > 1) return false;
  const bool has_c = p.has_c && p.beta != 0.0f;
  if (p.alpha != 1.0f || (has_c && p.beta != 1.0f)) return false;
  const bool are_short = p.n <= kernels.lanes;
  if (p.m < kFewestShortRows && (p.m < kFewestRows || are_short || p.k < kLeastKOfFewRows)) return false;
  return are_short || p.n > kernels.lanes * 3 / 2 || p.k <= kMostKBeforeHalf;
}

}  // namespace binet::kernels::gemm
