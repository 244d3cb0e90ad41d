// Room: kernels. How a matrix product is cut, from its sizes and the number of threads.
//
// None of the decisions here changes a bit of the result (microkernel-inl.h); they are about caches, and about work
// that costs more than it saves. Measured with gemm_bench.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/amx/amx.h"
#include "kernels/gemm/b_source.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/parts.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/segments.h"

namespace binet::kernels::gemm {
namespace {

// Of 1 MiB of L2 more than half is left for the panels of B that pass by, and for Y.
constexpr std::int64_t kPackedABytes = 384 * 1024;
// So few panels of B read A too seldom to repay its packing.
constexpr std::int64_t kPanelsForDirectA = 8;
// A block of A that fits here, and in L2, is not driven out between two panels of B.
constexpr std::int64_t kDirectABytes = 1024 * 1024;
// A transposed A has so many k at a time, unless all of it is near.
constexpr std::int64_t kDirectColumnsOfA = 128;
constexpr std::int64_t kLeastKToPassColumnsOfA = 384;
constexpr std::int64_t kFarColumnsOfABytes = 64 * 1024;
constexpr std::int64_t kL2SizesOfFarA = 4;
// A is read once for each strip of columns, from the second-level cache; half as much of it where each vector of B lies
// in two lines, and B not in the first-level cache. A single strip may stream it.
constexpr std::int64_t kAtOnceABytes = 128 * 1024;
constexpr std::int64_t kAtOnceStreamedABytes = 512 * 1024;
// Y is written strip by strip, a few lines of each row at a time: beyond so many bytes for so many rows at a time, as
// all of them would leave the first-level cache in between. A Y beyond L2, or one with a k so short that hardly
// anything but writing is left, takes tiles that fetch the lines they are going to write; the sooner, if those are
// shared by tiles side by side.
constexpr std::int64_t kAtOnceYBytes = 512 * 1024;
constexpr std::int64_t kAtOnceRows = 24;
constexpr std::int64_t kLeastKOfLargeYAtOnce = 16;
constexpr std::int64_t kLeastKOfWholeLinesAtOnce = 6;
// With a B that stays near, and tiles that are short lines, placing each tile is felt: A and Y pass by in blocks of
// rows that stay near, too, each of which is computed at once. A single panel takes one call for many tiles anyway.
constexpr std::int64_t kMostRowsOfBlock = 96;
constexpr std::int64_t kFewestRowsOfBlock = 12;
constexpr std::int64_t kYBytesOfBlock = 128 * 1024;
constexpr std::int64_t kYBytesOfBlockWithC = 32 * 1024;  // and those of a full C
constexpr std::int64_t kBBytesOfBlocks = 128 * 1024;
constexpr std::int64_t kItemsOfBlocks = 4;  // for each of several threads, to even out those that are not equally free
// Widened A, and sums that wait to be rounded, stay in the first-level cache while strips of B, which is read again for
// each block of rows, meet it.
constexpr std::int64_t kAtOnceBBytes = 64 * 1024;
constexpr std::int64_t kWidenedABytes = 16 * 1024;
// Vectors of columns in a strip, as in the widest tiles of many rows. B that is widened, too, lies in such.
constexpr std::int64_t kVectorsOfStrip = 4;
// Wide tiles read B twice as fast as the others: it stays in the first-level cache.
constexpr std::int64_t kWideTilesBBytes = 32 * 1024;
constexpr std::int64_t kTurnedBBytes = 128 * 1024;
constexpr std::int64_t kLeastRowsToTurnFor = 3;
// Rows and columns of Y, as the reciprocal of their reciprocals' sum, from which packing both operands into a form of
// its own costs less time than it saves.
constexpr std::int64_t kRowsAndColumnsToPack = 12;

/// Columns far fewer than the lanes of a vector waste most of it; rows may fill it, but those of an A row by row must
/// be transposed for that, which takes longer than what floats with masked vectors waste: dots are there for a long k.
bool should_swap(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (b_is_packed || p.m <= p.n) return false;
  if (p.n == 1) return true;
  if (p.a_row_step != 1 && kernels.takes_any_columns && is_float(p.type)) return false;
  const std::int64_t few = p.a_row_step == 1 ? kernels.lanes / 2 : kernels.lanes / 4;
  return p.n <= few && p.m >= 2 * kernels.lanes && p.k >= 8;
}

/// In the same sets of the first-level cache.
bool rows_of_a_meet(const Problem& p, const Kernels& kernels) {
  return p.m > 1 && p.a_row_step * kernels.element_bytes % kAliasBytes == 0;
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

/// A transposed A that is better packed, however few columns read it: each k gives a tile a part of a line, and the
/// next tile comes after so many k that it is far again, and the page with it. A line of f64 has not enough rows for
/// two tiles, one of f32 has. Measured where a vector is half a line.
bool has_far_columns_of_a(const Problem& p, const Kernels& kernels) {
  if (!has_short_floats(kernels) || p.a_column_step == 1 || p.m <= 2 * kernels.mr) return false;
  const std::int64_t near_bytes =
      kernels.element_bytes == 8 ? kL2SizesOfFarA * second_level_cache_bytes() : last_level_cache_bytes();
  return p.k >= kLeastKToPassColumnsOfA && p.m * p.k * kernels.element_bytes > near_bytes;
}

bool may_read_a_directly(const Problem& p, const Kernels& kernels, std::int64_t kc) {
  if (kernels.element_bytes != kernels.accumulator_bytes || kernels.in_place != nullptr) return false;
  if (has_far_columns_of_a(p, kernels)) return false;
  if (p.n <= kPanelsForDirectA * kernels.nr) return true;
  const std::int64_t stays = std::min(kDirectABytes, second_level_cache_bytes());
  return p.m * kc * kernels.element_bytes <= stays && !rows_of_a_meet(p, kernels);
}

/// A transposed A that is read where it lies, panel by panel: its lines hold a few rows each of one k, and are there
/// for the next tile, and in L2 for the next panel, if there are not too many k. Measured where a vector is half a
/// line.
bool has_columns_of_a_passing(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (!has_short_floats(kernels) || !s.a_is_direct || s.b_is_far || p.a_column_step == 1) return false;
  if (p.m <= kernels.mr || p.n <= 2 * kernels.nr || p.k < kLeastKToPassColumnsOfA) return false;
  return p.m * p.k * kernels.element_bytes > kFarColumnsOfABytes;
}

/// Row by row, A is widened as it lies, which is less work than to transpose it into panels; those are less to read.
bool may_widen_a(const Problem& p, const Kernels& kernels) {
  if (kernels.widen_lines == nullptr || p.a_column_step != 1) return false;
  return p.m <= 2 * kernels.mr || p.n < kernels.least_columns_to_transpose_for;
}

/// A single strip of them: more would read A again, and are not better.
bool takes_wide_tiles(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.wide_rows == 0 || s.b_source != BSource::direct || !s.a_is_direct) return false;
  const bool is_one_strip = p.n > 3 * kernels.lanes && p.n <= 4 * kernels.lanes;
  return is_one_strip && p.n * p.k * kernels.element_bytes <= kWideTilesBBytes;
}

/// Tiles of equal height: a last one of a single row would cost nearly as much as one of four.
std::int64_t choose_tile_rows(const Problem& p, const Kernels& kernels, const Schedule& s) {
  const std::int64_t rows = std::min(p.m, s.item_rows);
  return ceil_div(rows, ceil_div(rows, takes_wide_tiles(p, kernels, s) ? kernels.wide_rows : kernels.mr));
}

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
  const std::int64_t block_rows = rows_of_block(kernels, equal_part(segments.k, kernels.kc, kernels.k_group));
  choose_b_source(p, kernels, b_is_packed, block_rows, schedule);
  schedule.a_is_direct = !schedule.b_is_far && may_read_a_directly(p, kernels, schedule.kc);
  if (has_columns_of_a_passing(p, kernels, schedule)) {
    schedule.kc = std::min(schedule.kc, equal_part(segments.k, kDirectColumnsOfA, kernels.k_group));
  }
  schedule.a_is_widened = may_widen_a(p, kernels);
  if (schedule.a_is_widened) {
    schedule.a_line_step = round_up(schedule.kc, kernels.lanes);
    if (schedule.a_line_step * kernels.accumulator_bytes % kAliasBytes == 0) schedule.a_line_step += kernels.lanes;
  }
  cut_items(p, kernels, rows_of_block(kernels, schedule.kc), schedule);
  if (schedule.b_is_far) keep_sums_near(p, kernels, schedule);
  const bool has_strips = schedule.b_source == BSource::strips || schedule.widens_b || schedule.b_is_far;
  if (!has_strips) schedule.strip_columns = columns_together(kernels, schedule, schedule.item_columns);
  schedule.goes_by_rows = goes_by_rows(p, kernels, schedule, schedule.strip_columns);
  schedule.tile_rows = choose_tile_rows(p, kernels, schedule);
  return schedule;
}

/// Not a single strip, whose rows are written one after the other.
bool is_y_large_at_once(const Problem& p, const Kernels& kernels) {
  return p.n > kVectorsOfStrip * kernels.lanes && p.m * p.n * kernels.accumulator_bytes > kAtOnceYBytes;
}

bool may_write_large_y_at_once(const Problem& p, const Kernels& kernels) {
  if (p.m * p.n * kernels.accumulator_bytes > second_level_cache_bytes()) return false;
  const bool has_whole_lines = p.n * kernels.element_bytes % kLineBytes == 0;
  return p.k >= (has_whole_lines ? kLeastKOfWholeLinesAtOnce : kLeastKOfLargeYAtOnce);
}

/// Measured where a vector is half a line. Longer ones have wide tiles.
bool goes_by_blocks_at_once(const Problem& p, const Kernels& kernels) {
  if (!kernels.has_short_vectors || kernels.widen_lines != nullptr || p.m <= 2 * kMostRowsOfBlock) return false;
  return p.n > kernels.nr && p.n * p.k * kernels.element_bytes <= kBBytesOfBlocks;
}

/// A product so small that cutting it would take longer than it saves (Kernels::multiply_at_once), or whose rows each
/// thread computes so.
bool may_take_at_once(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.multiply_at_once == nullptr || s.is_swapped || s.segments > 1) return false;
  if (s.turns_b || s.has_few_rows || s.b_is_far) return false;
  const bool reads_a = s.a_is_direct || kernels.widen_lines != nullptr;
  if (s.b_source != BSource::direct || !reads_a || p.k > s.kc || p.c_column_step > 1) return false;
  if (!kernels.takes_any_columns && p.n % kernels.lanes != 0) return false;
  if (!is_float(p.type) && (p.alpha != 1.0f || (p.has_c && p.beta != 1.0f))) return false;
  const std::int64_t a_bytes = p.m * p.k * kernels.accumulator_bytes;
  if (widens_b_at_once(p, kernels, s) || goes_by_blocks_at_once(p, kernels)) return true;
  if (s.workers > 1) return false;
  if (kernels.widen_lines != nullptr && p.n * p.k * kernels.element_bytes <= kAtOnceBBytes) return true;
  if (p.n <= kernels.lanes) return a_bytes <= kAtOnceStreamedABytes;
  if (is_y_large_at_once(p, kernels) && !may_write_large_y_at_once(p, kernels)) return false;
  const bool has_whole_lines = p.b_row_step * kernels.element_bytes % kLineBytes == 0;
  const bool is_b_near = has_whole_lines || p.n * p.k * kernels.element_bytes <= kAtOnceBBytes;
  return a_bytes <= (is_b_near ? kAtOnceABytes : kAtOnceABytes / 2);
}

/// With a C the block is as low as a tile if rows are long: its loads wait for memory, as stores do not, unless
/// hardware prefetchers follow the rows, and they follow few at a time.
std::int64_t rows_of_block_at_once(const Problem& p, const Kernels& kernels) {
  const bool has_c = p.has_c && p.beta != 0.0f;
  const bool is_c_full = has_c && p.c_row_step != 0 && p.c_column_step != 0;
  const std::int64_t fewest = has_c ? kernels.mr : kFewestRowsOfBlock;
  const std::int64_t row_bytes = p.n * kernels.element_bytes * (is_c_full ? 2 : 1);
  const std::int64_t near_rows = (has_c ? kYBytesOfBlockWithC : kYBytesOfBlock) / row_bytes;
  return std::clamp(near_rows / fewest * fewest, fewest, kMostRowsOfBlock);
}

void plan_at_once(const Problem& p, const Kernels& kernels, Plan& plan) {
  Schedule schedule;
  schedule.item_rows = is_y_large_at_once(p, kernels) ? kAtOnceRows : p.m;
  if (goes_by_blocks_at_once(p, kernels)) {
    schedule.workers = plan.schedule.workers;
    schedule.is_short = plan.schedule.is_short;
    schedule.block_rows = rows_of_block_at_once(p, kernels);
    const std::int64_t items = schedule.workers == 1 ? 1 : kItemsOfBlocks * schedule.workers;
    schedule.item_rows = equal_part(p.m, ceil_div(p.m, items), 2 * kernels.mr);
    schedule.workers = std::min(schedule.workers, ceil_div(p.m, schedule.item_rows));
  }
  schedule.items = ceil_div(p.m, schedule.item_rows);
  if (kernels.widen_lines != nullptr) {
    schedule.widens_b = widens_b_at_once(p, kernels, plan.schedule);
    const std::int64_t strip = std::min(round_up(p.n, kernels.lanes), kVectorsOfStrip * kernels.lanes);
    const auto bytes = [&](std::int64_t accumulators) {
      return static_cast<std::size_t>(accumulators * kernels.accumulator_bytes);
    };
    const std::int64_t unit = schedule.widens_b ? kernels.mr / 2 : 2 * kernels.mr;  // of wide tiles, or two
    const std::int64_t row = (p.k + (schedule.widens_b ? strip : 0)) * kernels.accumulator_bytes;
    if (schedule.widens_b) {
      schedule.workers = plan.schedule.workers;
      schedule.is_short = plan.schedule.is_short;
      schedule.item_rows = equal_part(p.m, ceil_div(p.m, schedule.workers), unit);
      schedule.items = ceil_div(p.m, schedule.item_rows);
    }
    schedule.widened_rows = equal_part(schedule.item_rows, std::max(kWidenedABytes / row, 2 * kernels.mr), unit);
    const bool is_transposed = p.a_column_step != 1;
    const std::int64_t lines = is_transposed ? p.k : schedule.widened_rows;
    schedule.a_line_step = round_up(is_transposed ? schedule.widened_rows : p.k, kernels.lanes);
    schedule.slot_a_bytes = bytes(lines * schedule.a_line_step);
    if (schedule.widens_b) {
      schedule.strip_columns = strip;
      schedule.slot_b_bytes = bytes(p.k * round_up(p.n, strip));
      schedule.slot_sums_bytes = bytes(schedule.widened_rows * strip);
    }
    plan.workspace_bytes = static_cast<std::size_t>(schedule.workers) *
                           (schedule.slot_a_bytes + schedule.slot_b_bytes + schedule.slot_sums_bytes);
  }
  plan.schedule = schedule;
  plan.way = schedule.items == 1 && schedule.block_rows == 0 ? Way::at_once : Way::rows_at_once;
}

/// A small transposed B, for a product that is done at once then. Fewer rows turn it while they multiply
/// (turned_squares-inl.h).
bool may_turn_rows(const Problem& p, const Kernels& kernels) {
  if (kernels.turn_rows == nullptr || p.b_column_step == 1 || p.m < kLeastRowsToTurnFor) return false;
  if (!kernels.takes_any_columns && p.n % kernels.lanes != 0) return false;
  return p.k * round_up(p.n, kernels.lanes) * kernels.element_bytes <= kTurnedBBytes;
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
  if (s.b_source == BSource::whole || s.b_source == BSource::widened)
    s.whole_b_bytes = bytes(PackedB(kernels, p.n, p.k).size);

  const bool y_holds_sums = kernels.element_bytes == kernels.accumulator_bytes && !s.is_swapped;
  s.sums_in_slot = s.segments == 1 && p.k > s.kc && (s.b_is_far || !y_holds_sums);
  if (s.sums_in_slot) s.slot_sums_bytes = bytes(s.item_rows * s.item_columns);
  s.sums_row_step = round_up(p.n, kernels.lanes);
  if (s.segments > 1) s.segment_sums_bytes = bytes(s.segments * p.m * s.sums_row_step);
  plan.workspace_bytes = s.whole_b_bytes + s.segment_sums_bytes +
                         static_cast<std::size_t>(s.workers) * (s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes);
  s.repeats_c = make_scale(p).has_c && p.c_row_step == 0 && p.c_column_step == 0 && p.m > 1 && p.n > 1;
  if (s.repeats_c) plan.workspace_bytes += bytes_of_repeated_c(p, kernels);
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
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
    plan.way = problem.m == 0 || problem.n == 0 ? Way::nothing : Way::without_k;
    return plan;
  }
  if (takes_dots(problem)) {
    plan_dots(plan, threads);
    return plan;
  }
  if (has_last_column_apart(problem)) {
    plan_parts(plan, target, threads);
    return plan;
  }
  if (takes_amx(problem, *plan.kernels, b_is_packed)) {
    plan_amx(plan, threads);
    return plan;
  }
  if (b_is_packed && keeps_rows(problem, *plan.kernels)) {
    plan = make_plan(with_kept_rows(problem, *plan.kernels), target, threads, false);
    plan.b_is_packed = true;
    return plan;
  }
  if (!b_is_packed && may_turn_rows(problem, *plan.kernels)) {
    const Problem rows = with_rows_of_vectors(problem, *plan.kernels);
    Plan at_once = make_plan(rows, target, threads, false);
    if (is_at_once(at_once.way)) {
      at_once.way = Way::rows_at_once;
      at_once.schedule.b_lane_step = problem.b_column_step;
      at_once.workspace_bytes = round_up_to_cache_line(at_once.workspace_bytes) +
                                static_cast<std::size_t>(rows.k * rows.b_row_step * plan.kernels->element_bytes);
      return at_once;
    }
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
