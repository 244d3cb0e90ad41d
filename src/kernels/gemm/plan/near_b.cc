#include "kernels/gemm/plan/near_b.h"

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// Shorter rows are followed by hardware prefetchers.
constexpr std::int64_t kLongRowBytes = 1536;
// What a tile of two short vectors reads of so many rows, and what it fetches for the next one, fill the first-level
// cache. A smaller B is near anyway.
constexpr std::int64_t kLeastKToFetchBelow = 256;
constexpr std::int64_t kLeastBToFetchBelow = 64 * 1024;
// Ahead in each of the rows that are read side by side: hardware prefetchers end with a page. With AVX2 that is a tile,
// 1.1 times as fast from memory on Zen 3.
constexpr std::int64_t kBytesAhead = 1024;
constexpr std::int64_t kBytesAheadOfShortVectors = 256;
// The same of one run of memory, which Zen 5's prefetchers have in time from as much of the last-level cache as is
// near.
constexpr std::int64_t kBytesAheadInOrder = 8192;
// For so few rows of Y Zen 5 has lines of a B from the caches in time: 0.91 to 1.05 of the time without fetches, in the
// mean 0.98.
constexpr std::int64_t kFewestRowsToFetchFor = 60;
// Rows ahead: with four lines come too late at times, sixteen are no better.
constexpr std::int64_t kRowsBelow = 8;

/// One row with vectors of half a line, whose kernel reads B from afar in such turns that hardware has it in time.
bool comes_line_by_line(const Problem& p, const Kernels& kernels) {
  const bool is_by_halves = !is_float(p.type) && kernels.element_bytes == 8;
  return p.m == 1 && kernels.has_short_vectors && !kernels.widens() && !is_by_halves && !comes_from_caches(p, kernels);
}

}  // namespace

bool comes_from_memory(const Problem& p, std::int64_t element_bytes) {
  return p.n * p.k * element_bytes > last_level_cache_bytes();
}

bool leaves_b_to_hardware(const Kernels& kernels) { return kernels.has_long_vectors() && !is_intel_with_avx512(); }

bool follows_one_run_best(const Kernels& kernels) {
  return leaves_b_to_hardware(kernels) && !has_units_of_half_vectors();
}

bool comes_from_caches(const Problem& p, const Kernels& kernels) {
  return p.n * p.k * kernels.element_bytes <= last_level_cache_bytes() / 4;
}

bool fetches_below(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!kernels.has_short_vectors || s.b_is_far || s.kc <= kLeastKToFetchBelow) return false;
  return p.n * p.k * kernels.element_bytes > kLeastBToFetchBelow && comes_from_caches(p, kernels);
}

std::int64_t near_b(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (s.turns_b) {
    // A run of k. Zen 5 has those of a small B in time, and of one from memory it fetches lines (far_operands.h).
    if (follows_one_run_best(kernels)) {
      return comes_from_caches(p, kernels) || comes_from_memory(p, kernels.element_bytes) ? 0 : 1;
    }
    // Hardware follows even so many streams from memory, but those of lines that share a set of a cache.
    const bool is_large = p.n * p.k * kernels.element_bytes >= last_level_cache_bytes();
    return s.leaves_b_to_hardware && is_large && kernels.element_bytes == kernels.accumulator_bytes ? 0 : 1;
  }
  if (s.has_few_rows) {
    if (s.rows_of_b == 1) return comes_from_caches(p, kernels) ? 0 : kBytesAheadInOrder / kernels.element_bytes;
    if (s.leaves_b_to_hardware || comes_line_by_line(p, kernels)) return 0;
    return (kernels.has_short_vectors ? kBytesAheadOfShortVectors : kBytesAhead) / kernels.element_bytes;
  }
  // What the first tiles of the next panel pack: the line in which they end.
  if (s.tiles_pack_b && kernels.has_short_vectors) return kLineBytes / kernels.element_bytes - 1;
  // The line in which the tile ends. That in which it begins has been fetched by the tile before.
  if (fetches_below(p, kernels, s)) return kRowsBelow * p.b_row_step - 1;
  // Rows begin on other pages each, where no hardware prefetcher follows: the same rows further right. Where they do
  // not begin with a line, the last line of the next tile begins in one vector more, or ends with its last element.
  const std::int64_t row_bytes = p.b_row_step * kernels.element_bytes;
  if (row_bytes % kLineBytes == 0 || row_bytes < kLongRowBytes) return 0;
  if (p.m < kFewestRowsToFetchFor && follows_one_run_best(kernels) && comes_from_caches(p, kernels)) return 0;
  return kernels.has_long_vectors() ? kernels.lanes : kLineBytes / kernels.element_bytes - 1;
}

}  // namespace binet::kernels::gemm
