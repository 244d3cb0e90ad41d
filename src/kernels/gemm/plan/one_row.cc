#include "kernels/gemm/plan/one_row.h"

#include "base/cache_size.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"

namespace binet::kernels::gemm {
namespace {

// Fewer columns go by one tile that has no idle vectors, and this many could still do so.
constexpr std::int64_t kFewestVectors = 6;
constexpr std::int64_t kVectorsOfOneTile = 8;
// Loads of two rows of so many are as many as the prefetchers of Zen 5 follow.
constexpr std::int64_t kVectorsForTurns = 14;
// To a shorter K the way of tiles is shorter.
constexpr std::int64_t kLeastK = 128;
constexpr std::int64_t kLeastKOfOneTile = 256;
constexpr std::int64_t kLeastKOfStrips = 192;

}  // namespace

bool keeps_sums_in_registers(const Problem& p, const Kernels& kernels) {
  if (kernels.most_columns_of_row == 0 || p.m != 1 || p.b_column_step != 1 || p.c_column_step > 1) return false;
  if (p.n < kFewestVectors * kernels.lanes) return false;
  const bool is_near = p.n * p.k * kernels.element_bytes <= second_level_cache_bytes();
  // Where hardware does not follow B, other ways fetch it.
  if (!is_near && !leaves_b_to_hardware(kernels)) return false;
  if (p.n <= kVectorsOfOneTile * kernels.lanes) return p.k >= kLeastKOfOneTile;
  if (p.n <= kernels.most_columns_of_row) return p.k >= kLeastK;
  // Strips side by side are as many passes over B, which only the second-level cache serves well; and not where it
  // serves one run better.
  return is_near && p.k >= kLeastKOfStrips && !follows_one_run_best(kernels);
}

std::int64_t rows_of_b_in_turns(const Problem& p, const Kernels& kernels) {
  const bool is_near = p.n * p.k * kernels.element_bytes <= second_level_cache_bytes();
  return is_near && follows_one_run_best(kernels) && p.n > kVectorsForTurns * kernels.lanes ? 1 : 2;
}

}  // namespace binet::kernels::gemm
