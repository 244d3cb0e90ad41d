#include "kernels/gemm/plan/far_y.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"

namespace binet::kernels::gemm {
namespace {

// Shorter rows are one run of memory, which hardware prefetchers follow.
constexpr std::int64_t kLeastRowBytes = 1024;
constexpr std::int64_t kMostKToFetchYFor = 32;

bool may_fetch(const Problem& p, const Kernels& kernels) {
  return leaves_b_to_hardware(kernels) && !has_units_of_half_vectors() && p.n * kernels.element_bytes >= kLeastRowBytes;
}

bool has_full_c(const Problem& p) { return p.has_c && p.beta != 0.0f && p.c_row_step != 0 && p.c_column_step != 0; }

}  // namespace

bool fetches_far_y(const Problem& p, const Kernels& kernels) {
  if (!may_fetch(p, kernels) || has_full_c(p) || p.k > kMostKToFetchYFor) return false;
  return p.m * p.n * kernels.element_bytes > last_level_cache_bytes() / 8 * 5;
}

bool fetches_far_c(const Problem& p, const Kernels& kernels) {
  if (!may_fetch(p, kernels) || !has_full_c(p)) return false;
  return p.m * p.n * kernels.element_bytes > last_level_cache_bytes() / 16 * 5;
}

}  // namespace binet::kernels::gemm
