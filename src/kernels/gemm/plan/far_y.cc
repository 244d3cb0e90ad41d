#include "kernels/gemm/plan/far_y.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Shorter rows are one run of memory, which hardware prefetchers follow.
constexpr std::int64_t kLeastRowBytes = 1024;
constexpr std::int64_t kMostKToFetchYFor = 32;
// Of the last-level cache, which others use, too: what is nearer takes up to a third longer if it is read before, the
// longer the less there is to compute. Short rows, of which a tile or two are a run of memory, do so from anywhere, and
// long ones gain little.
constexpr std::int64_t kPartOfNearRows = 4, kPartOfNearRowsOffLines = 6;
constexpr std::int64_t kLeastKOfNearerRows = 24;
constexpr std::int64_t kLeastBytesOfRowToRead = 256, kMostBytesOfRowToRead = 3072;

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

bool reads_far_rows_first(const Problem& p, const Kernels& kernels) {
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  if (!kernels.has_short_vectors || row_bytes < kLeastBytesOfRowToRead || row_bytes > kMostBytesOfRowToRead)
    return false;
  const bool is_c_full = has_full_c(p), are_lines = row_bytes % kLineBytes == 0;
  if (are_lines && !is_c_full) return false;
  const std::int64_t part = are_lines || p.k < kLeastKOfNearerRows ? kPartOfNearRows : kPartOfNearRowsOffLines;
  return p.m * row_bytes * (is_c_full ? 2 : 1) > last_level_cache_bytes() / part;
}

}  // namespace binet::kernels::gemm
