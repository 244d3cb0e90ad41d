// Room: kernels. How a matrix product is cut, from its sizes and the number of threads.
//
// None of the decisions here changes a bit of the result (microkernel-inl.h); they are about caches, and about work
// that costs more than it saves. Measured with gemm_bench.
#include <algorithm>

#include "base/aligned_buffer.h"
#include "base/cache_size.h"
#include "kernels/gemm/ahead.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/items.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/plan/a_source.h"
#include "kernels/gemm/plan/b_source.h"
#include "kernels/gemm/plan/few_rows.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/plan/parts.h"
#include "kernels/gemm/plan/plan_at_once.h"
#include "kernels/gemm/plan/spread_rows.h"
#include "kernels/gemm/plan/swap.h"
#include "kernels/gemm/plan/turned_rows.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/scale.h"
#include "kernels/gemm/segments.h"
#include "kernels/gemm/tiled/tiled.h"

namespace binet::kernels::gemm {
namespace {

// With a shorter one it is Y that takes time.
constexpr std::int64_t kLeastKOfSharedRows = 40;
constexpr std::int64_t kLeastTilesOfSharedRows = 3;

// Wide tiles read B twice as fast as the others: it stays in the first-level cache.
constexpr std::int64_t kWideTilesBBytes = 32 * 1024;
// One column of integers for no more rows than a tile has: with a shorter K its tile is done before dots would begin.
constexpr std::int64_t kLeastKOfDotsForFewRows = 32;

/// Floats whenever takes_dots() says so, as their bits depend on it; integers where it is faster.
bool should_take_dots(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (!takes_dots(p)) return takes_dots_of_rows(p, kernels, b_is_packed);
  if (b_is_packed || !is_integer(p.type) || p.n != 1) return true;
  return p.m > kernels.mr || p.k >= kLeastKOfDotsForFewRows;
}

/// Few rows and columns use each packed element too rarely. The bits are the same.
const Kernels& choose_kernels(const Problem& p, const Kernels& kernels, bool b_is_packed) {
  if (kernels.in_place == nullptr || repays_packing_both(p)) return kernels;
  const bool can_read_b = !b_is_packed || (kernels.k_group == 1 && kernels.group_rows_of_b == 1);
  return can_read_b ? *kernels.in_place : kernels;
}

/// A single strip of them: more would read A again, and are not better.
bool takes_wide_tiles(const Problem& p, const Kernels& kernels, const Schedule& s) {
  if (kernels.wide_rows == 0 || s.b_source != BSource::direct || !s.a_is_direct) return false;
  const bool is_one_strip = p.n > 3 * kernels.lanes && p.n <= 4 * kernels.lanes;
  return is_one_strip && p.n * p.k * kernels.element_bytes <= kWideTilesBBytes;
}

/// Tiles of equal height: a last one of a single row would cost nearly as much as one of four. Of two tiles the one
/// that packs B, and waits for it, is as high as may be.
std::int64_t choose_tile_rows(const Problem& p, const Kernels& kernels, const Schedule& s) {
  const std::int64_t rows = std::min(p.m, s.item_rows);
  if (s.tiles_pack_b && rows > kernels.mr && rows <= 2 * kernels.mr) return kernels.mr;
  // One of five would fetch half of what it reads.
  if (s.fetched == FarOperand::runs_of_b && rows == kFewestRowsForRuns + 1) return kFewestRowsForRuns;
  const std::int64_t most = s.a_is_direct ? most_rows_of_tile(p, kernels) : kernels.mr;
  return ceil_div(rows, ceil_div(rows, takes_wide_tiles(p, kernels, s) ? kernels.wide_rows : most));
}

/// Narrower items, so that sums stay in L2 while they wait for the next range of k.
void keep_sums_near(const Problem& p, const Kernels& kernels, Schedule& s) {
  const std::int64_t most = second_level_cache_bytes() / 4 / (s.item_rows * kernels.accumulator_bytes);
  if (s.item_columns <= most) return;
  s.item_columns = equal_part(s.item_columns, std::max(most, s.strip_columns), s.strip_columns);
  s.items = s.row_items * ceil_div(p.n, s.item_columns) * s.segments;
}

/// Items of half of the rows.
void halve_items(const Problem& p, Schedule& s) {
  s.item_rows = ceil_div(p.m, 2);
  s.row_items = 2;
  s.items = s.row_items * ceil_div(p.n, s.item_columns) * s.segments;
}

Schedule make_schedule(const Problem& p, const Kernels& kernels, int threads, bool b_is_packed, bool is_swapped,
                       Segments segments, bool ends_in_halves) {
  Schedule schedule;
  schedule.ends_in_halves = ends_in_halves;
  schedule.is_swapped = is_swapped;
  schedule.segments = segments.count;
  schedule.segment_k = segments.k;
  choose_workers(p, kernels, threads, schedule);
  const std::int64_t block_rows = rows_of_block(kernels, equal_part(segments.k, kernels.kc, kernels.k_group));
  choose_b_source(p, kernels, b_is_packed, block_rows, schedule);
  choose_a_source(p, kernels, schedule);
  cut_items(p, kernels, rows_of_block(kernels, schedule.kc), schedule);
  if (schedule.has_few_rows && reads_b_twice(p, kernels, schedule.workers)) halve_items(p, schedule);
  if (schedule.b_is_far) keep_sums_near(p, kernels, schedule);
  const bool has_strips = schedule.b_source == BSource::strips || schedule.widens_b || schedule.b_is_far;
  if (!has_strips) schedule.strip_columns = columns_together(kernels, schedule, schedule.item_columns);
  schedule.goes_by_rows = goes_by_rows(p, kernels, schedule, schedule.strip_columns);
  schedule.tile_rows = choose_tile_rows(p, kernels, schedule);
  schedule.leaves_b_to_hardware = leaves_b_to_hardware(kernels);
  schedule.near_b = near_b(p, kernels, schedule);
  return schedule;
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
  // Columns before a line, and those behind the last whole vector, have a vector of sums more.
  const std::int64_t ends = s.b_source == BSource::direct ? 2 * kernels.lanes : 0;
  if (s.sums_in_slot) s.slot_sums_bytes = bytes(s.item_rows * (s.item_columns + ends));
  s.sums_row_step = round_up(p.n, kernels.lanes);
  if (s.segments > 1) s.segment_sums_bytes = bytes(s.segments * p.m * s.sums_row_step);
  plan.workspace_bytes = s.whole_b_bytes + s.segment_sums_bytes +
                         static_cast<std::size_t>(s.workers) * (s.slot_a_bytes + s.slot_b_bytes + s.slot_sums_bytes);
  s.repeats_c = make_scale(p).has_c && p.c_row_step == 0 && p.c_column_step == 0 && p.m > 1 && p.n > 1;
  if (s.repeats_c) plan.workspace_bytes += bytes_of_repeated_c(p, kernels);
}

/// What is left for one of several workers, if each has some of the rows.
Problem rows_of_worker(const Problem& p, const Plan& plan) {
  constexpr std::int64_t kRowsUnit = 4;
  Problem rows = p;
  rows.m = equal_part(p.m, ceil_div(p.m, plan.schedule.workers), kRowsUnit);
  return rows;
}

/// Whether workers may take a product at once, as each would take its rows alone: B is read where it lies, where each
/// item would pack it. A few rows should be whole tiles.
bool may_share_rows_at_once(const Problem& rows_of_worker, const Kernels& kernels) {
  const Problem& p = rows_of_worker;
  if (kernels.widen_lines != nullptr || !kernels.has_long_vectors() || p.k < kLeastKOfSharedRows) return false;
  return p.m % kernels.mr == 0 || p.m >= kLeastTilesOfSharedRows * kernels.mr;
}

/// What was planned for the rows of one worker, for all of them.
void share_rows(std::int64_t m, const Schedule& of_all, Plan& plan) {
  Schedule& s = plan.schedule;
  plan.way = Way::rows_at_once;
  s.is_short = of_all.is_short;
  s.items = ceil_div(m, s.item_rows);
  s.workers = std::min(of_all.workers, s.items);
}

/// What was planned for a B row by row in the workspace, where it is brought before.
void place_rows_first(Plan& plan) {
  const Problem& p = plan.problem;
  const std::size_t bytes =
      round_up_to_cache_line(static_cast<std::size_t>(p.k * p.b_row_step * plan.kernels->element_bytes));
  if (is_at_once(plan.way)) plan.way = Way::rows_at_once;
  plan.schedule.whole_b_bytes = bytes;
  plan.workspace_bytes += bytes;
}

bool reads_b_in_place(const Plan& plan) { return plan.way == Way::items && plan.schedule.b_source == BSource::direct; }

/// A B whose rows are whole lines, and which is copied if it turns out to begin off one.
void place_lines_first(int threads, Plan& plan) {
  const bool is_in_turns = plan.way == Way::rows_at_once || reads_b_in_place(plan);
  if (!is_in_turns || plan.schedule.is_swapped || plan.schedule.turns_b || plan.schedule.has_few_rows) return;
  if (!may_copy_b_off_lines(plan.problem, *plan.kernels, threads)) return;
  plan.schedule.b_given_step = plan.problem.b_row_step;
  plan.schedule.copies_b_off_lines = true;
  place_rows_first(plan);
}

}  // namespace

Plan make_plan(const Problem& problem, const Target& target, int threads, bool b_is_packed) {
  Plan plan;
  plan.problem = problem;
  plan.kernels = find_kernels(problem.type, target);
  plan.b_is_packed = b_is_packed;
  if (problem.m == 0 || problem.n == 0 || problem.k == 0) {
    plan.way = problem.m == 0 || problem.n == 0 ? Way::nothing : Way::without_k;
    return plan;
  }
  if (should_take_dots(problem, *plan.kernels, b_is_packed)) {
    plan.schedule.is_swapped = !takes_dots(problem);
    plan_dots(plan, threads);
    return plan;
  }
  if (last_columns_apart(problem) > 0) {
    plan_parts(plan, target, threads);
    return plan;
  }
  if (takes_tiled(problem, *plan.kernels, b_is_packed)) {
    plan_tiled(plan, threads);
    return plan;
  }
  if (b_is_packed && keeps_rows(problem, *plan.kernels)) {
    plan = make_plan(with_kept_rows(problem, *plan.kernels), target, threads, false);
    plan.b_is_packed = true;
    return plan;
  }
  if (!b_is_packed && may_turn_rows(problem, *plan.kernels)) {
    const Problem rows = with_turned_rows(problem, *plan.kernels);
    Plan turned = make_plan(rows, target, threads, false);
    if (is_at_once(turned.way) ||
        (turned.way == Way::items && takes_wide_tiles(rows, *turned.kernels, turned.schedule))) {
      turned.schedule.b_lane_step = problem.b_column_step;
      place_rows_first(turned);
      return turned;
    }
  }
  if (!b_is_packed && may_spread_rows(problem, *plan.kernels, threads)) {
    const Problem rows = with_rows_apart(with_rows_of_vectors(problem, *plan.kernels), *plan.kernels);
    Plan spread = make_plan(rows, target, threads, false);
    if (is_at_once(spread.way) || reads_b_in_place(spread)) {
      spread.schedule.b_given_step = problem.b_row_step;
      place_rows_first(spread);
      return spread;
    }
  }
  const bool is_swapped = should_swap(problem, *plan.kernels, target, b_is_packed);
  const Problem computed = is_swapped ? swapped(problem) : problem;
  plan.kernels = &choose_kernels(computed, *plan.kernels, b_is_packed);
  plan.schedule = make_schedule(computed, *plan.kernels, threads, b_is_packed, is_swapped, segments_of(problem),
                                has_units_of_half_vectors(target));
  if (may_take_at_once(computed, *plan.kernels, plan.schedule)) {
    plan_at_once(computed, *plan.kernels, plan);
    place_lines_first(threads, plan);
    return plan;
  }
  const Problem rows = rows_of_worker(computed, plan);
  if (plan.schedule.workers > 1 && may_share_rows_at_once(rows, *plan.kernels)) {
    Plan at_once = plan;
    at_once.schedule = make_schedule(rows, *plan.kernels, 1, b_is_packed, is_swapped, segments_of(problem),
                                     has_units_of_half_vectors(target));
    if (may_take_at_once(rows, *plan.kernels, at_once.schedule)) {
      plan_at_once(rows, *plan.kernels, at_once);
      share_rows(computed.m, plan.schedule, at_once);
      return at_once;
    }
  }
  size_workspace(computed, *plan.kernels, plan);
  place_lines_first(threads, plan);
  return plan;
}

}  // namespace binet::kernels::gemm
