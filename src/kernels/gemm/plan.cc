// Room: kernels. How a matrix product is cut, from its sizes and the number of threads.
//
// None of the decisions here changes a bit of the result (microkernel-inl.h); they are about caches, and about work
// that costs more than it saves. Measured with gemm_bench.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

// Of 1 MiB of L2 more than half is left for the panels of B that pass by, and for Y.
constexpr std::int64_t kPackedABytes = 384 * 1024;
// Packed at a time by an item: they stay in L2, and a row of B gives a run of memory that prefetchers follow.
constexpr std::int64_t kStripColumns = 256;
// So few rows read B in place, the next panel on its way to the cache.
constexpr std::int64_t kFewRows = 128;
// One row, or two of f32, read B at the speed of memory if they read it in its order (few_rows-inl.h).
constexpr std::int64_t kFewRowsBytes = 8;
constexpr std::int64_t kLeastBForFewRows = 256 * 1024;
// So few rows do not repay the packing of a transposed B: they turn its squares themselves (turned_squares-inl.h).
constexpr std::int64_t kMostRowsToTurnFor = 2;
// Of k at a time: sums that wait for the next range of k, and A where it is packed, are passed over again.
constexpr std::int64_t kFewRowsK = 4096;
// Of a panel of B read in place: it stays in the first-level cache while more than so many tiles below each other meet
// it. For fewer the sums are not worth another passage.
constexpr std::int64_t kDirectPanelBytes = 32 * 1024;
constexpr std::int64_t kTilesToKeepPanelFor = 4;
// So much of B stays in L2 between two tiles of rows, and is read in place by any number of them.
constexpr std::int64_t kDirectBBytes = 1024 * 1024;
// Of B beyond L2, read in place, so many pages at a time, as many as A has rows. With those of A and of sums they stay
// in the first-level TLB, or nearly so: few tiles have little else to do than to wait for B, and many pass over sums.
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kLeastRowBytesOfFarB = 1536;
constexpr std::int64_t kLeastPagesOfFarB = 48;
constexpr std::int64_t kMostPagesOfFarB = 96;
// For more than so many rows B is packed where fewer rows of it than these may come at a time, as sums are then passed
// over too often, or where its rows do not begin with a line, as each tile then loads two lines for each vector.
constexpr std::int64_t kFewRowsForAnyFarB = 64;
constexpr std::int64_t kLeastFarK = 48;
constexpr std::int64_t kLineBytes = 64;
// Panels whose sums lie together, as wide as the widest tiles.
constexpr std::int64_t kPanelsTogether = 4;
// Beyond this packing all of B costs more memory than the repeated packing of strips costs time.
constexpr std::int64_t kWholeBBytes = std::int64_t{64} << 20;
// A block of A that fits here is not driven out of L2 between two panels of B.
constexpr std::int64_t kDirectABytes = 1024 * 1024;
// Rows so far apart, or any multiple of it, meet in the same lines of the caches.
constexpr std::int64_t kAliasBytes = 4096;
// A is read once for each strip of columns, from the second-level cache. A single strip may stream it from there.
constexpr std::int64_t kAtOnceABytes = 64 * 1024;
constexpr std::int64_t kAtOnceStreamedABytes = 512 * 1024;
// Widened A stays in the first-level cache while strips of B, which is read again for each block of rows, meet it.
constexpr std::int64_t kAtOnceBBytes = 64 * 1024;
constexpr std::int64_t kWidenedABytes = 16 * 1024;
// Rows and columns of Y, as the reciprocal of their reciprocals' sum, from which packing both operands into a form of
// its own costs less time than it saves.
constexpr std::int64_t kRowsAndColumnsToPack = 12;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t round_up(std::int64_t a, std::int64_t b) { return ceil_div(a, b) * b; }

/// The part of `total` in each of the fewest equal parts that are at most `limit`, rounded up to `unit`.
std::int64_t equal_part(std::int64_t total, std::int64_t limit, std::int64_t unit) {
  return round_up(ceil_div(total, ceil_div(total, limit)), unit);
}

/// Columns far fewer than the lanes of a vector waste most of it; rows may fill it.
bool should_swap(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (b_is_packed || p.m <= p.n) return false;
  if (p.n == 1) return true;
  const std::int64_t few = p.a_row_step == 1 ? kernels.lanes / 2 : kernels.lanes / 4;
  return p.n <= few && p.m >= 2 * kernels.lanes && p.k >= 8;
}

bool rows_meet(std::int64_t row_step, const Kernels& kernels) {
  return row_step * kernels.element_bytes % kAliasBytes == 0;
}

/// Few rows and columns use each packed element too rarely. The bits are the same.
const Kernels& choose_kernels(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (kernels.in_place == nullptr || p.m * p.n >= kRowsAndColumnsToPack * (p.m + p.n)) return kernels;
  const bool can_read_b = !b_is_packed || (kernels.k_group == 1 && kernels.group_rows_of_b == 1);
  return can_read_b ? *kernels.in_place : kernels;
}

/// Rows of A, in whole tiles, that are packed at a time.
std::int64_t rows_of_block(const Kernels& kernels, std::int64_t kc) {
  const std::int64_t row_bytes = packed_rows_of_a(kernels, kc) * kernels.accumulator_bytes;
  return std::max(kernels.mr, kPackedABytes / row_bytes / kernels.mr * kernels.mr);
}

/// Packing would store what is used once or twice.
bool should_turn_b(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (b_is_packed || p.b_column_step == 1 || kernels.multiply_turned == nullptr) return false;
  return p.m <= kMostRowsToTurnFor && p.n >= kernels.lanes && p.k >= kernels.lanes;
}

/// Rows of B, read where it lies from beyond L2, that meet all columns before the next rows do. They stay there while
/// the next panel comes, and for the tiles below the first.
std::int64_t rows_of_far_b(const Problem& p, const Kernels& kernels) {
  const std::int64_t row_bytes = p.b_row_step * kernels.element_bytes;
  const std::int64_t pages = std::clamp(p.m, kLeastPagesOfFarB, kMostPagesOfFarB);
  const std::int64_t in_tlb = pages * kPageBytes / std::min(row_bytes, kPageBytes);
  // Rows a multiple of a power of two apart meet in the same sets, of 16 lines each in the L2 of most CPUs.
  const std::int64_t l2_bytes = second_level_cache_bytes();
  const std::int64_t sets_apart = std::min(row_bytes & -row_bytes, l2_bytes / 16);
  const std::int64_t in_l2 = l2_bytes / sets_apart * 3 / 4;
  return std::min({in_tlb, in_l2, kernels.kc});
}

/// B, if it is read in place, comes from beyond L2 more than once. Short rows lie one behind the other, and come by
/// themselves.
bool is_b_far(const Problem& p, const Kernels& kernels) {
  if (p.b_row_step * kernels.element_bytes < kLeastRowBytesOfFarB) return false;
  return p.n * p.k * kernels.element_bytes > second_level_cache_bytes() / 2 && p.k > rows_of_far_b(p, kernels);
}

/// So many take less time than packing B costs.
std::int64_t rows_to_read_b_for(const Problem& p, const Kernels& kernels) {
  if (!is_b_far(p, kernels)) return kFewRows;
  const bool has_whole_lines = p.b_row_step * kernels.element_bytes % kLineBytes == 0;
  return has_whole_lines && rows_of_far_b(p, kernels) >= kLeastFarK ? kFewRows : kFewRowsForAnyFarB;
}

BSource choose_b_source(const Problem& p, const Kernels& kernels, bool b_is_packed, std::int64_t block_rows) {
  if (b_is_packed) return BSource::given;
  if (should_turn_b(p, kernels, b_is_packed)) return BSource::direct;
  if (p.b_column_step == 1 && kernels.in_place == nullptr) {
    const std::int64_t stays = rows_meet(p.b_row_step, kernels) ? kDirectBBytes / 2 : kDirectBBytes;
    if (p.m <= rows_to_read_b_for(p, kernels) || p.n * p.k * kernels.element_bytes <= stays) return BSource::direct;
  }
  const bool is_small =
      round_up(p.n, kernels.nr) * packed_rows_of_b(kernels, p.k) * kernels.accumulator_bytes <= kWholeBBytes;
  return p.m > block_rows && is_small ? BSource::whole : BSource::strips;
}

/// B comes from far, and its bytes, not the multiply-adds, take the time.
bool takes_few_rows(const Problem& p, const Kernels& kernels) {
  return kernels.multiply_few_rows != nullptr && p.m * kernels.accumulator_bytes <= kFewRowsBytes &&
         p.n * p.k * kernels.element_bytes >= kLeastBForFewRows;
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels, std::int64_t kc) {
  if (kernels.element_bytes != kernels.accumulator_bytes || kernels.in_place != nullptr) return false;
  if (p.n <= 2 * kernels.nr) return true;
  return p.m * kc * kernels.element_bytes <= kDirectABytes && !rows_meet(p.a_row_step, kernels);
}

bool has_panels(BSource source) { return source == BSource::given || source == BSource::whole; }

/// Tiles of equal height: a last one of a single row would cost nearly as much as one of four.
std::int64_t choose_tile_rows(std::int64_t rows, const Kernels& kernels) {
  return ceil_div(rows, ceil_div(rows, kernels.mr));
}

/// A kept B of 16-bit floats where tiles take long to widen what they read: more than a few rows have it widened for
/// all.
bool should_widen(const Problem& p, const Kernels& kernels) { return kernels.widen != nullptr && p.m > 2 * kernels.mr; }

/// Narrower items, so that sums stay in L2 while they wait for the next range of k.
void keep_sums_near(const Problem& p, const Kernels& kernels, Schedule& s) {
  const std::int64_t most = second_level_cache_bytes() / 4 / (s.item_rows * kernels.accumulator_bytes);
  if (s.item_columns <= most) return;
  s.item_columns = equal_part(s.item_columns, std::max(most, s.strip_columns), s.strip_columns);
  s.items = s.row_items * ceil_div(p.n, s.item_columns) * s.segments;
}

Schedule make_schedule(const Problem& p, const Kernels& kernels, int threads, bool b_is_packed, Segments segments) {
  Schedule schedule;
  schedule.segments = segments.count;
  schedule.segment_k = segments.k;
  choose_workers(p, threads, schedule);
  schedule.kc = equal_part(segments.k, kernels.kc, kernels.k_group);
  schedule.b_source = choose_b_source(p, kernels, b_is_packed, rows_of_block(kernels, schedule.kc));
  schedule.widens_b = b_is_packed && should_widen(p, kernels);
  if (has_panels(schedule.b_source) && !schedule.widens_b) {
    // Each tile fetches its share of the next panel, which may be longer then: sums are loaded and stored less often.
    schedule.kc = equal_part(segments.k, 2 * kernels.kc, kernels.k_group);
  }
  schedule.strip_columns = std::min(kStripColumns, round_up(p.n, kernels.nr));
  if (schedule.b_source == BSource::strips && p.m <= kernels.mr) {
    // Few rows take less time than the packing itself, which likes long runs of k.
    schedule.strip_columns = std::min(schedule.strip_columns, kernels.nr);
    schedule.kc = equal_part(segments.k, 2 * kernels.kc, kernels.k_group);
  }
  if (schedule.b_source == BSource::direct && p.m > kTilesToKeepPanelFor * kernels.mr && p.n > kernels.nr) {
    schedule.kc = equal_part(segments.k, kDirectPanelBytes / (kernels.nr * kernels.element_bytes), kernels.k_group);
  }
  schedule.turns_b = should_turn_b(p, kernels, b_is_packed);
  schedule.has_few_rows = schedule.b_source == BSource::direct && !schedule.turns_b && takes_few_rows(p, kernels);
  if (schedule.turns_b || schedule.has_few_rows) {
    schedule.kc = equal_part(segments.k, kFewRowsK, kernels.k_group);
  }
  schedule.b_is_far =
      schedule.b_source == BSource::direct && !schedule.turns_b && !schedule.has_few_rows && is_b_far(p, kernels);
  if (schedule.b_is_far) {
    schedule.kc = equal_part(segments.k, rows_of_far_b(p, kernels), kernels.k_group);
    schedule.strip_columns = std::min(kPanelsTogether * kernels.nr, round_up(p.n, kernels.nr));
  }
  schedule.a_is_direct = !schedule.b_is_far && may_read_a_directly(p, kernels, schedule.kc);
  schedule.a_is_widened = kernels.widen_lines != nullptr && p.a_column_step == 1;
  if (schedule.a_is_widened) {
    schedule.a_line_step = round_up(schedule.kc, kernels.lanes);
    if (schedule.a_line_step * kernels.accumulator_bytes % kAliasBytes == 0) schedule.a_line_step += kernels.lanes;
  }
  cut_items(p, kernels, rows_of_block(kernels, schedule.kc), schedule);
  if (schedule.b_is_far) keep_sums_near(p, kernels, schedule);
  schedule.tile_rows = choose_tile_rows(std::min(p.m, schedule.item_rows), kernels);
  return schedule;
}

/// A product so small that cutting it would take longer than it saves (Kernels::multiply_at_once).
bool may_take_at_once(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.multiply_at_once == nullptr || s.is_swapped || s.workers > 1 || s.segments > 1) return false;
  if (s.turns_b || s.has_few_rows || s.b_is_far) return false;
  const bool reads_a = s.a_is_direct || kernels.widen_lines != nullptr;
  if (s.b_source != BSource::direct || !reads_a || p.k > s.kc || p.c_column_step > 1) return false;
  if (!kernels.takes_any_columns && p.n % kernels.lanes != 0) return false;
  if (!is_float(p.type) && (p.alpha != 1.0f || (p.has_c && p.beta != 1.0f))) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.accumulator_bytes;
  if (kernels.widen_lines != nullptr && p.n * p.k * kernels.element_bytes <= kAtOnceBBytes) return true;
  return a_bytes <= (p.n <= kernels.lanes ? kAtOnceStreamedABytes : kAtOnceABytes);
}

void plan_at_once(const Problem& p, const Kernels& kernels, Plan& plan) {
  Schedule schedule;
  schedule.is_at_once = true;
  schedule.item_rows = p.m;
  if (kernels.widen_lines != nullptr) {
    const std::int64_t rows = kWidenedABytes / (p.k * kernels.accumulator_bytes);
    schedule.item_rows = equal_part(p.m, std::max(rows, 2 * kernels.mr), 2 * kernels.mr);
    const bool is_transposed = p.a_column_step != 1;
    const std::int64_t lines = is_transposed ? p.k : schedule.item_rows;
    schedule.a_line_step = round_up(is_transposed ? schedule.item_rows : p.k, kernels.lanes);
    plan.workspace_bytes = static_cast<std::size_t>(lines * schedule.a_line_step * kernels.accumulator_bytes);
  }
  plan.schedule = schedule;
}

void size_workspace(const Problem& p, const Kernels& kernels, Plan& plan) {
  Schedule& s = plan.schedule;
  const auto bytes = [&](std::int64_t accumulators) {
    return round_up_to_cache_line(static_cast<std::size_t>(accumulators * kernels.accumulator_bytes));
  };
  const std::int64_t rows_of_b = packed_rows_of_b(kernels, s.kc);
  if (s.a_is_widened) {
    s.slot_a_bytes = bytes(s.item_rows * s.a_line_step);
  } else if (!s.a_is_direct) {
    s.slot_a_bytes = bytes(ceil_div(s.item_rows, s.tile_rows) * kernels.a_width * packed_rows_of_a(kernels, s.kc));
  }
  if (s.b_source == BSource::strips || s.widens_b) s.slot_b_bytes = bytes(s.strip_columns * rows_of_b);
  if (s.b_source == BSource::direct) s.slot_b_bytes = bytes(kernels.nr * rows_of_b);
  if (s.b_source == BSource::whole) s.whole_b_bytes = bytes(PackedB(kernels, p.n, p.k).size);

  const bool y_holds_sums = kernels.element_bytes == kernels.accumulator_bytes && !s.is_swapped;
  s.sums_in_slot = s.segments == 1 && p.k > s.kc && (s.b_is_far || !y_holds_sums);
  if (s.sums_in_slot) s.slot_sums_bytes = bytes(s.item_rows * s.item_columns);
  s.sums_row_step = round_up(p.n, kernels.lanes);
  if (s.segments > 1) s.segment_sums_bytes = bytes(s.segments * p.m * s.sums_row_step);
  plan.workspace_bytes = s.whole_b_bytes + s.segment_sums_bytes +
                         static_cast<std::size_t>(s.workers) * (s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes);
}

}  // namespace

Problem swapped(const Problem& p) noexcept {
  Problem s = p;
  s.m = p.n;
  s.n = p.m;
  s.a_row_step = p.b_column_step;
  s.a_column_step = p.b_row_step;
  s.b_row_step = p.a_column_step;
  s.b_column_step = p.a_row_step;
  s.c_row_step = p.c_column_step;
  s.c_column_step = p.c_row_step;
  return s;
}

Plan make_plan(const Problem& problem, const Target& target, int threads, bool b_is_packed) {
  Plan plan;
  plan.problem = problem;
  plan.kernels = find_kernels(problem.type, target);
  plan.b_is_packed = b_is_packed;
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) return plan;  // run() needs no schedule for these
  if (takes_dots(problem)) {
    plan_dots(plan, threads);
    return plan;
  }
  if (b_is_packed && keeps_rows(problem, *plan.kernels)) {
    plan = make_plan(with_kept_rows(problem, *plan.kernels), target, threads, false);
    plan.b_is_packed = true;
    return plan;
  }
  const bool is_swapped = should_swap(problem, *plan.kernels, b_is_packed);
  const Problem computed = is_swapped ? swapped(problem) : problem;
  plan.kernels = &choose_kernels(computed, *plan.kernels, b_is_packed);
  plan.schedule = make_schedule(computed, *plan.kernels, threads, b_is_packed, segments_of(problem));
  plan.schedule.is_swapped = is_swapped;
  if (may_take_at_once(computed, *plan.kernels, plan.schedule)) {
    plan_at_once(computed, *plan.kernels, plan);
    return plan;
  }
  size_workspace(computed, *plan.kernels, plan);
  return plan;
}

}  // namespace binet::kernels::gemm
