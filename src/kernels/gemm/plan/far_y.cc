#include "kernels/gemm/plan/far_y.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"

namespace binet::kernels::gemm {
namespace {

// Shorter rows are one run of memory, which hardware prefetchers follow.
constexpr std::int64_t kLeastRowBytes = 1024;
constexpr std::int64_t kMostKToFetchYFor = 32;
// Of the last-level cache, in 32nds, what Y fills, or Y and a full C: nearer ones take up to half as long again if they
// are fetched. With hardly anything to compute Y is felt sooner, and several threads lose theirs later.
constexpr std::int64_t kPartOfFetchedY = 20, kPartOfFetchedYOfThreads = 24;
constexpr std::int64_t kPartOfFetchedYOfShortestK = 17, kShortestK = 6;
constexpr std::int64_t kPartOfFetchedC = 17, kPartOfFetchedCOfThreads = 20;
// Of the last-level cache, which others use, too: what is nearer takes up to a third longer if it is read before, the
// longer the less there is to compute. Short rows, of which a tile or two are a run of memory, do so from anywhere, and
// long ones gain little.
constexpr std::int64_t kPartOfNearRows = 4, kPartOfNearRowsOfLongerK = 8;
constexpr std::int64_t kLeastKOfNearerRows = 24;
constexpr std::int64_t kLeastBytesOfRowToRead = 256, kMostBytesOfRowToRead = 3072;
// With a longer k tiles have time for their stores, but not where rows of Y, and of B, meet in few sets of a cache.
constexpr std::int64_t kMostKToStream = 32, kMostKToStreamRowsThatMeet = 64;
constexpr std::int64_t kLeastBytesOfRowToStream = 160, kMostBytesOfStreamedRow = 2560;
constexpr std::int64_t kBytesOfStreamedBlock = 24 * 1024;

bool may_fetch(const Problem& p, const Kernels& kernels) {
  return leaves_b_to_hardware(kernels) && !has_units_of_half_vectors() && p.n * kernels.element_bytes >= kLeastRowBytes;
}

}  // namespace

bool fetches_far_y(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!may_fetch(p, kernels) || adds_full_c(p) || p.k > kMostKToFetchYFor) return false;
  const std::int64_t of_one = p.k <= kShortestK ? kPartOfFetchedYOfShortestK : kPartOfFetchedY;
  const std::int64_t part = workers > 1 ? kPartOfFetchedYOfThreads : of_one;
  return p.m * p.n * kernels.element_bytes > last_level_cache_bytes() / 32 * part;
}

bool fetches_far_c(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!may_fetch(p, kernels) || !adds_full_c(p)) return false;
  const std::int64_t part = workers > 1 ? kPartOfFetchedCOfThreads : kPartOfFetchedC;
  return 2 * p.m * p.n * kernels.element_bytes > last_level_cache_bytes() / 32 * part;
}

bool streams_far_rows(const Problem& p, const Kernels& kernels, std::int64_t workers) {
  if (!kernels.has_short_vectors || kernels.widen_lines != nullptr || p.y_row_step != p.n) return false;
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  if (row_bytes < kLeastBytesOfRowToStream || row_bytes * kernels.mr > second_level_cache_bytes() / 2) return false;
  const bool rows_meet = row_bytes % (kAliasBytes / 4) == 0;
  const std::int64_t times_as_long = is_float(p.type) ? 1 : kernels.element_bytes / 2;
  if (p.k * times_as_long > (rows_meet ? kMostKToStreamRowsThatMeet : kMostKToStream)) return false;
  return p.m * row_bytes >= last_level_cache_bytes() / 16 * (workers == 1 ? 5 : 10);
}

void cut_into_streamed_blocks(const Problem& p, const Kernels& kernels, Schedule& s) {
  // Whole lines, or whole rows, one after the other.
  const std::int64_t bytes = kernels.element_bytes, row_bytes = p.n * bytes;
  const bool are_cut = row_bytes > kMostBytesOfStreamedRow && row_bytes % kLineBytes == 0;
  s.streams_rows = true;
  s.strip_columns = are_cut ? equal_part(p.n, kMostBytesOfStreamedRow / bytes, kLineBytes / bytes) : p.n;
  const std::int64_t strip_bytes = s.strip_columns * bytes;
  s.block_rows = std::max(kBytesOfStreamedBlock / strip_bytes / kernels.mr, std::int64_t{1}) * kernels.mr;
  s.slot_sums_bytes = round_up_to_cache_line(static_cast<std::size_t>(s.block_rows * strip_bytes));
}

bool reads_far_rows_first(const Problem& p, const Kernels& kernels) {
  const std::int64_t row_bytes = p.n * kernels.element_bytes;
  if (!kernels.has_short_vectors || row_bytes < kLeastBytesOfRowToRead || row_bytes > kMostBytesOfRowToRead)
    return false;
  const bool is_c_full = adds_full_c(p), are_lines = row_bytes % kLineBytes == 0;
  if (are_lines && !is_c_full) return false;
  const std::int64_t part = p.k < kLeastKOfNearerRows ? kPartOfNearRows : kPartOfNearRowsOfLongerK;
  return p.m * row_bytes * (is_c_full ? 2 : 1) > last_level_cache_bytes() / part;
}

}  // namespace binet::kernels::gemm
