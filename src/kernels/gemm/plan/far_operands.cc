#include "kernels/gemm/plan/far_operands.h"

#include "base/cache_size.h"
#include "kernels/gemm/ahead.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/portions.h"

namespace binet::kernels::gemm {
namespace {

// A tile of more rows takes longer for each k, so that fetches are further apart in time, but more of them are needed.
constexpr std::int64_t kLowRows = 4;
constexpr std::int64_t kAheadOfOneRow = 2048;
constexpr std::int64_t kAheadOfLowRows = 4096;
constexpr std::int64_t kAhead = 8192;
// Of the last-level cache: so much of a packed B is there in time; and so much of A and Y.
constexpr std::int64_t kPartForLowRows = 2, kPart = 4;
// Lower tiles read several panels side by side, and what more tiles compute takes longer than memory does. Of two to
// four a large part of a B that is not much larger than the last-level cache comes in time.
constexpr std::int64_t kMostTilesForRuns = 4, kPanelsForRuns = 8;
constexpr std::int64_t kFewestRowsOfTiles = 5, kFewestRowsOfTilesOf64Bits = 7, kMostRowsOfTiles = 8;
constexpr std::int64_t kWayBytes = 4096;
// Of longer ones what is loaded under masks is a small part; and hardware follows each by itself.
constexpr std::int64_t kBytesOfLongRow = 512, kBytesOfLongRowOfTiles = 1024;
constexpr std::int64_t kLeastBytesOfRowToRead = 384, kMostBytesOfRowToRead = 1600;
// Of a transposed A: hardware follows fewer of them.
constexpr std::int64_t kLeastColumnsToRead = 20;

/// Larger than what a core has to itself: from there on it is felt that no hardware prefetcher follows.
bool is_beyond_a_core(std::int64_t bytes) { return bytes > second_level_cache_bytes(); }

/// Hardware does not follow as many rows as a vector has lanes. One group of columns at a time: two have more rows than
/// the first-level cache has room for.
bool fetches_lines_of_turned_b(const Problem& p, const Kernels& kernels) {
  if (!is_float(p.type) || !follows_one_run_best(kernels)) return false;
  return p.k < kernels.lanes ? is_beyond_a_core(p.n * p.k * kernels.element_bytes)
                             : comes_from_memory(p, kernels.element_bytes);
}

/// Which touch.
bool has_short_rows_of_a(const Problem& p, const Kernels& kernels, std::int64_t long_row_bytes) {
  return follows_one_run_best(kernels) && !kernels.widens() && p.a_row_step == p.k &&
         p.k * kernels.element_bytes < long_row_bytes;
}

/// With vectors of half a line. For one tile or two of rows B comes as fast as it can, and from a small part of the
/// last-level cache it comes in time (1.00 to 1.05 of the time on Zen 3 with fetches).
bool fetches_only_panel(const Problem& p, const Kernels& kernels) {
  const std::int64_t bytes = (p.m + p.n) * p.k * kernels.element_bytes;
  return p.n <= kernels.nr && p.m > 2 * kernels.mr && !kernels.widens() && bytes > last_level_cache_bytes() / kPart;
}

/// With vectors of half a line, and tiles of two of them: rows of A, and of Y, are single runs, which hardware follows
/// as it follows rows far apart (0.96 of the time on Zen 3).
bool follows_rows_of_a_late(const Problem& p, const Kernels& kernels) {
  return has_short_floats(kernels) && p.n > kernels.lanes && p.n <= kernels.nr && p.a_column_step == 1 &&
         p.a_row_step == p.k && p.y_row_step == p.n &&
         p.m * (p.k + p.n) * kernels.element_bytes > last_level_cache_bytes() / kPart;
}

}  // namespace

std::int64_t bytes_ahead_in_panels(const Problem& p, const Kernels& kernels) {
  if (kernels.has_short_vectors) return fetches_only_panel(p, kernels) ? kAhead : 0;
  if (!follows_one_run_best(kernels)) return 0;
  if (p.type == ElementType::bf16 && p.m <= kernels.mr) return 0;  // has loops of its own
  const std::int64_t near_bytes = last_level_cache_bytes() / (p.m <= kLowRows ? kPartForLowRows : kPart);
  if (p.n * p.k * kernels.kept_bytes <= near_bytes) return 0;
  return p.m == 1 ? kAheadOfOneRow : p.m <= kLowRows ? kAheadOfLowRows : kAhead;
}

bool fetches_runs_of_b(const Problem& p, const Kernels& kernels) {
  if (!kernels.has_short_vectors) return false;
  if (kernels.widens() ? p.a_column_step != 1 : !is_float(p.type) && kernels.element_bytes == 8) return false;
  const std::int64_t most_tiles = kernels.widens() ? 1 : kMostTilesForRuns, tiles = ceil_div(p.m, kernels.mr);
  if (p.m < kFewestRowsForRuns || tiles > most_tiles || p.n < kPanelsForRuns * kernels.nr) return false;
  const std::int64_t near_bytes = tiles == 1 ? last_level_cache_bytes() / kPart : last_level_cache_bytes() / 2 * 3;
  return p.n * p.k * kernels.kept_bytes > near_bytes;
}

bool fetches_rows_of_a(const Problem& p, const Kernels& kernels) {
  return p.n == 1 && is_float(p.type) && has_short_rows_of_a(p, kernels, kBytesOfLongRow) &&
         is_beyond_a_core(p.m * p.k * kernels.element_bytes);
}

bool fetches_rows_of_a_and_y(const Problem& p, const Kernels& kernels) {
  if (kernels.has_short_vectors) return follows_rows_of_a_late(p, kernels);
  return p.n <= kernels.nr && p.y_row_step == p.n && has_short_rows_of_a(p, kernels, kBytesOfLongRowOfTiles) &&
         p.m * (p.k + p.n) * kernels.element_bytes > last_level_cache_bytes() / kPart;
}

bool reads_far_rows_of_a_first(const Problem& p, const Kernels& kernels) {
  const std::int64_t row_bytes = p.k * kernels.element_bytes;
  if (!kernels.has_short_vectors || kernels.widens()) return false;
  if (p.a_column_step != 1)
    return p.k >= kLeastColumnsToRead && p.m * (p.k + p.n) * kernels.element_bytes > last_level_cache_bytes() / kPart;
  return row_bytes >= kLeastBytesOfRowToRead && row_bytes <= kMostBytesOfRowToRead &&
         p.m * row_bytes > last_level_cache_bytes() / kPart;
}

bool fetches_next_rows_of_b(const Problem& p, const Kernels& kernels) {
  return follows_one_run_best(kernels) && !kernels.widens() && p.m > kernels.most_few_rows &&
         comes_from_memory(p, kernels.element_bytes);
}

bool fetches_rows_of_b(const Problem& p, const Kernels& kernels) {
  const bool rows_meet = p.b_row_step * kernels.element_bytes % kWayBytes == 0;
  const std::int64_t fewest = kernels.element_bytes == 8 ? kFewestRowsOfTilesOf64Bits : kFewestRowsOfTiles;
  return follows_one_run_best(kernels) && !kernels.widens() && !rows_meet && p.b_column_step == 1 && p.m >= fewest &&
         p.m <= kMostRowsOfTiles && comes_from_memory(p, kernels.element_bytes);
}

FarOperand fetched_of_b(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (s.turns_b) return fetches_lines_of_turned_b(p, kernels) ? FarOperand::lines_of_turned_b : FarOperand::none;
  if (s.has_few_rows) return fetches_next_rows_of_b(p, kernels) ? FarOperand::next_rows_of_b : FarOperand::none;
  return fetches_rows_of_b(p, kernels) ? FarOperand::rows_of_b : FarOperand::none;
}

}  // namespace binet::kernels::gemm
