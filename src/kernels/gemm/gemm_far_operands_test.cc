// Every type on every target of this machine, against plain loops: the ways in which operands from afar are fetched
// ahead of their use (far_operands.h).
#include <gtest/gtest.h>

#include "base/cache_size.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmFarOperands = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmFarOperands, testing::ValuesIn(types_on_targets()), name_of);

/// Of a B from memory lines are fetched: of one that is turned, of this group of columns or a later one; of rows that
/// meet in few sets of the caches, and others; and of a packed one.
TEST_P(GemmFarOperands, LinesOfABBeyondTheCaches) {
  const std::int64_t elements = last_level_cache_bytes() / kernels_.element_bytes;
  const std::int64_t page = 4096 / kernels_.element_bytes;
  for (const Case& sizes : {Case{1, 0, 613, false, true}, Case{3, 0, 5 * kernels_.lanes + 1, false, true},
                            Case{4, 0, 700}, Case{8, 0, 701}, Case{8, page, 513}}) {
    Case c = sizes;
    const std::int64_t least = elements / c.k + 1;
    c.n = c.n == page ? (least + page - 1) / page * page : least + 21;
    const Problem p = problem_of(type_, c);
    const Schedule schedule = make_plan(p, target_, 1, false).schedule;
    const bool fetches_packed = make_plan(p, target_, 1, true).schedule.ahead_bytes != 0;
    // Elsewhere it is as any other, and plain loops take their time for it.
    const bool fetches_b = schedule.fetched != FarOperand::none;
    if (!fetches_b && !fetches_packed) continue;
    if (c.trans_b && fetches_b) {
      EXPECT_TRUE(schedule.turns_b && !schedule.turns_two_groups) << c;
    }
    const Operands operands(p, 0, 1);
    if (fetches_b) check(c, operands, {false});
    if (fetches_packed) check(c, operands, {true});
  }
}

/// Rows of a B that is read where it lies, and all begin at one place within a line: the columns before the first line
/// are a strip of their own. With rows that are no multiple of a line, and a B that no element of which begins one,
/// nothing is. Sums wait in a slot, in Y, or nowhere; two workers have columns of their own.
TEST_P(GemmFarOperands, ColumnsBeforeALineOfB) {
  const ThreadPool two_threads(2);
  const std::int64_t line = 64 / kernels_.element_bytes;
  for (const Case& sizes : {Case{2, 64 * line, 700}, Case{8, 64 * line, 700}, Case{8, 33 * line, 150},
                            Case{kernels_.mr + 3, 40 * line, 300}, Case{8, 20 * line + 1, 300}}) {
    Case c = sizes;
    vary(c);
    const Problem p = problem_of(type_, c);
    for (const std::size_t misalignment : {std::size_t{8}, std::size_t{16}, std::size_t{24}, std::size_t{1}}) {
      const Operands operands(p, misalignment, 1);  // of B twice as many bytes
      check(c, operands, {false}, misalignment);
      const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " at " << misalignment;
    }
  }
}

/// The same of products that are computed at once, with vectors of half a line: strips of such a B are packed one after
/// the other, of four vectors, of two for the last one and with a longer k, for factors, and in blocks of rows.
TEST_P(GemmFarOperands, StripsOfABThatBeginsNoLine) {
  if (!kernels_.has_short_vectors || kernels_.widens()) return;
  const auto packs = [&](const Case& c) { return make_plan(problem_of(type_, c), target_, 1, false); };
  const std::int64_t n = 5 * kernels_.nr;
  EXPECT_FALSE(packs({31, n, 70}).schedule.packs_b_off_lines || packs({40, n, 12}).schedule.packs_b_off_lines ||
               packs({40, n + kernels_.lanes, 70}).schedule.packs_b_off_lines);
  for (const Case& sizes : {Case{32, n, 60}, Case{40, n, 130}, Case{35, n, 70, true}, Case{400, n, 60}}) {
    for (const float alpha : {1.0f, 0.5f}) {
      Case c = sizes;
      c.alpha = alpha;
      const Plan plan = packs(c);
      EXPECT_TRUE(plan.schedule.packs_b_off_lines && is_at_once(plan.way)) << c;
      const Problem p = problem_of(type_, c);
      for (const std::size_t misalignment : {std::size_t{0}, std::size_t{8}, std::size_t{16}, std::size_t{1}}) {
        check(c, Operands(p, misalignment, 1), {false}, misalignment);
      }
    }
  }
}

/// With vectors of half a line, more rows than a tile has and a B from afar: it is packed in strips that fill half of
/// the second-level cache, rows that meet in few sets from a part of the last-level cache on, others from memory. A
/// nearer one, and a single tile, read it where it lies. The last strip and range of k are smaller.
TEST_P(GemmFarOperands, StripsOfAFarB) {
  if (!has_short_floats(kernels_)) return;
  const ThreadPool two_threads(2);
  const std::int64_t elements = last_level_cache_bytes() / kernels_.element_bytes, page = 4096 / kernels_.element_bytes;
  for (const std::int64_t n : {page, 4 * page, 5 * page / 2 + 3}) {
    const bool rows_meet = n % page == 0;
    Case c{kernels_.mr + 3, n, elements / (rows_meet ? 4 : 2) / n + 3};
    vary(c);
    const auto schedule = [&](const Case& of) { return make_plan(problem_of(type_, of), target_, 1, false).schedule; };
    Case near = c, one_tile = c;
    near.k /= 2;
    one_tile.m = kernels_.mr;
    const Schedule s = schedule(c);
    EXPECT_EQ(s.b_source, BSource::strips) << c;
    EXPECT_LE(s.strip_columns * s.kc * kernels_.element_bytes, second_level_cache_bytes() / 2) << c;
    EXPECT_EQ(schedule(near).b_source, BSource::direct) << near;
    EXPECT_EQ(schedule(one_tile).b_source, BSource::direct) << one_tile;
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    check(c, operands, {false});
    const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c;
  }
  // More rows than a block of panels has: of f64 alone, and not of many.
  const bool is_f64 = type_ == ElementType::f64;
  for (const std::int64_t m : {101, 256, 300}) {
    Case c{m, 3 * page / 2 + 5, elements / 4 / page};
    const BSource source = make_plan(problem_of(type_, c), target_, 1, false).schedule.b_source;
    if (is_f64 || m == 300) {
      EXPECT_EQ(source, m == 300 ? BSource::whole : BSource::strips) << c;
    }
    if (is_f64 && m == 101) check(c);
  }
}

/// A B whose rows begin off lines: few rows of Y leave one from the caches to Zen 5's prefetchers.
TEST_P(GemmFarOperands, FetchesLinesOfRowsOffLines) {
  if (!follows_one_run_best(kernels_) || !is_float(type_) || byte_size(type_) < 4) return;
  const std::int64_t n = 3000 / kernels_.element_bytes, most_k = last_level_cache_bytes() / 4 / 3000;
  const auto fetches = [&](const Case& c) {
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    EXPECT_TRUE(plan.way == Way::items && plan.schedule.b_source == BSource::direct) << c;
    return plan.schedule.near_b != 0;
  };
  const Case near{17, n, most_k / 2};
  EXPECT_FALSE(fetches(near));
  EXPECT_TRUE(fetches({17, n, most_k + 1}));
  check(near, Operands(problem_of(type_, near), 0, 1), {false});
}

/// One column of few k, beyond a core's own caches: rows of A are fetched where much of them is loaded under masks.
TEST_P(GemmFarOperands, FetchesShortRowsOfAFarA) {
  const std::int64_t elements = 2 * second_level_cache_bytes() / kernels_.element_bytes;
  for (const std::int64_t k : {std::int64_t{3}, kernels_.lanes - 1, std::int64_t{40}}) {
    if (k == 0) continue;
    Case c{elements / k + 5, 1, k};
    vary(c);
    // As rows of A or, where Y^T is computed, as those of a turned B.
    const auto fetches_rows = [&](const Case& of) {
      return make_plan(problem_of(type_, of), target_, 1, false).schedule.fetched != FarOperand::none;
    };
    const bool fetches = fetches_rows(c);
    const bool is_known = follows_one_run_best(kernels_) && is_float(type_) && !kernels_.widens();
    if (is_known) {
      EXPECT_TRUE(fetches) << c;
    }
    if (!fetches) continue;
    check(c, Operands(problem_of(type_, c), 0, 1), {false});
    const Case near{50, 1, k};
    EXPECT_FALSE(fetches_rows(near)) << near;
  }
}

/// A tall product whose A and Y fill a part of the last-level cache, in tiles as wide as Y or, of f32 with a K of 64,
/// in pairs of k: with rows of Y of one vector, more, and fewer; with and without C, whose rows touch, too.
TEST_P(GemmFarOperands, FetchesRowsOfATallProduct) {
  const std::int64_t elements = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  const std::int64_t lanes = kernels_.lanes;
  for (const Case& sizes : {Case{0, lanes, 20}, Case{0, lanes + 3, 17, false, true}, Case{0, 5, 19}, Case{0, 6, 65}}) {
    Case c = sizes;
    c.m = elements / (c.n + c.k) + 7;
    Case small = c;
    small.m = 100;
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    const bool reads_a = plan.schedule.a_is_direct || plan.way == Way::dots;
    const bool has_two_short_vectors = has_short_floats(kernels_) && c.n > lanes;
    const bool is_known = (follows_one_run_best(kernels_) && !kernels_.widens() && reads_a) || has_two_short_vectors;
    EXPECT_EQ(plan.schedule.fetched == FarOperand::rows_of_a, is_known) << c;
    EXPECT_EQ(make_plan(problem_of(type_, small), target_, 1, false).schedule.fetched, FarOperand::none) << small;
    if (!is_known) continue;
    check(c);
    c.c = CForm::full;
    check(c);
  }
}

/// With vectors of half a line, rows of an A from memory that are neither short nor long are read before they are
/// multiplied: by tiles as wide as Y, in blocks of rows and, of f32, in pairs of k.
TEST_P(GemmFarOperands, ReadsRowsOfAFirst) {
  if (!has_short_floats(kernels_)) return;
  const std::int64_t elements = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  const std::int64_t nr = kernels_.nr, longest = 1600 / kernels_.element_bytes;
  const auto reads = [&](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.reads_a_first;
  };
  for (const Case& sizes :
       {Case{0, nr, longest}, Case{0, nr - 1, longest / 4 + 3}, Case{0, 2 * nr + 5, longest / 2 + 1},
        Case{0, type_ == ElementType::f32 ? 6 : nr, longest / 3}}) {
    Case c = sizes;
    c.m = elements / c.k + 29;
    vary(c);
    Case near = c, short_rows = c, long_rows = c;
    near.m /= 2;
    short_rows.k = 384 / kernels_.element_bytes - 1;
    long_rows.k = longest + 1;
    EXPECT_TRUE(reads(c)) << c;
    EXPECT_FALSE(reads(near) || reads(short_rows) || reads(long_rows)) << c;
    check(c, Operands(problem_of(type_, c), byte_size(type_) + 1, 1), {false}, byte_size(type_) + 1);
  }
}

/// The same of runs of the columns of a transposed A, unless they are few: with a B as it lies, transposed and packed,
/// in blocks of rows, and on two threads.
TEST_P(GemmFarOperands, ReadsColumnsOfAFirst) {
  if (!has_short_floats(kernels_)) return;
  const ThreadPool two_threads(2);
  const std::int64_t elements = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  const std::int64_t nr = kernels_.nr;
  for (const Case& sizes : {Case{0, nr, 20, true}, Case{0, nr - 1, 31, true}, Case{0, nr - 2, 33, true, true},
                            Case{0, 2 * nr + 5, 27, true}}) {
    Case c = sizes;
    c.m = elements / (c.n + c.k) + 29;
    vary(c);
    Case near = c, few_columns = c;
    near.m /= 2;
    few_columns.k = 19;
    few_columns.m *= 2;
    for (const bool is_packed : {false, true}) {
      const auto reads = [&](const Case& of) {
        return make_plan(problem_of(type_, of), target_, 1, is_packed).schedule.reads_a_first;
      };
      EXPECT_TRUE(reads(c)) << c << " packed " << is_packed;
      EXPECT_FALSE(reads(near) || reads(few_columns)) << c << " packed " << is_packed;
    }
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    check(c, operands);
    const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c;
  }
}

/// With vectors of half a line, a B of one panel, packed or as it lies: lines of it are fetched if it is part of much,
/// by the first of several tiles. A long K has fewer ranges then.
TEST_P(GemmFarOperands, LinesOfTheOnlyPanel) {
  const std::int64_t elements = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  const std::int64_t mr = kernels_.mr, nr = kernels_.nr;
  const auto ahead = [&](const Case& c, bool is_packed) {
    return make_plan(problem_of(type_, c), target_, 1, is_packed).schedule.ahead_bytes;
  };
  for (const Case& sizes : {Case{2 * mr + 1, nr, 0}, Case{3 * mr + 2, nr, 0, true}, Case{2 * mr + 3, nr - 1, 0}}) {
    Case c = sizes;
    c.k = elements / (c.m + c.n) + 5;
    if (!kernels_.has_short_vectors || kernels_.widens() || kernels_.in_place != nullptr) continue;
    if (!c.trans_a) {
      EXPECT_GT(ahead(c, true), 0) << c;
    }
    EXPECT_EQ(ahead(c, false) > 0, c.n == nr && !c.trans_a) << c;
    check(c);
    c.m = mr;
    EXPECT_EQ(ahead(c, true), 0) << c;
  }
  for (const Case& sizes : {Case{mr, nr, 5003}, Case{mr, nr - 1, 4100}, Case{3 * mr + 1, nr, 5003, true},
                            Case{2 * mr + 1, nr, 2 * kernels_.kc + 1}}) {
    Case c = sizes;
    vary(c);
    check(c);
  }
}

/// With vectors of half a line, four rows and more of a packed B from afar: tiles fetch several of the next panels side
/// by side, from further away where there are several tiles. The last group of panels is whole, or not, and so is its
/// last panel; tiles are of equal heights, or the last one is too low to fetch, or five rows are two tiles.
TEST_P(GemmFarOperands, RunsOfAPackedB) {
  if (!kernels_.has_short_vectors) return;
  const ThreadPool two_threads(2);
  const std::int64_t elements = last_level_cache_bytes() / kernels_.element_bytes;
  const std::int64_t mr = kernels_.mr, nr = kernels_.nr;
  const bool is_by_halves = !is_float(type_) && kernels_.element_bytes == 8;
  const auto schedule_of = [&](const Case& c, bool is_packed) {
    return make_plan(problem_of(type_, c), target_, 1, is_packed).schedule;
  };
  const auto fetches = [&](const Case& c) { return schedule_of(c, true).fetched == FarOperand::runs_of_b; };
  for (Case c : {Case{4, 8 * nr + 3, 0}, Case{5, 12 * nr, 0}, Case{mr, 9 * nr + 3, 0}, Case{mr, 11 * nr, 0, true},
                 Case{mr + 1, 8 * nr, 0}, Case{mr + 4, 10 * nr + 1, 0}, Case{2 * mr, 9 * nr, 0, true},
                 Case{2 * mr + 1, 8 * nr + 1, 0}, Case{4 * mr, 17 * nr, 0}}) {
    const std::int64_t far = c.m <= mr ? elements / 4 : elements / 2 * 3;
    c.k = far / c.n + 3;
    vary(c);
    const bool may_fetch = kernels_.widens() ? c.m <= mr && !c.trans_a : !is_by_halves;
    EXPECT_EQ(fetches(c), may_fetch) << c;
    EXPECT_NE(schedule_of(c, false).fetched, FarOperand::runs_of_b) << c;
    if (!may_fetch) continue;
    Case near = c, low = c, narrow = c, high = c;
    near.k -= 10;
    low.m = 3;
    narrow.n = 7 * nr;
    narrow.k *= 3;
    high.m = 4 * mr + 1;
    EXPECT_FALSE(fetches(near) || fetches(low) || fetches(narrow) || fetches(high)) << c;
    EXPECT_EQ(schedule_of(c, true).tile_rows == 4, c.m <= 5 || c.m == mr + 1) << c;
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    check(c, operands, {true});
    const Bytes want = compute(p, operands, target_, one_thread_, true);
    const Bytes got = compute(p, operands, target_, two_threads, true);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c;
  }
}

/// The last range of k may have no whole square, which happens by itself with a B of gigabytes only.
TEST_P(GemmFarOperands, FetchesLinesOfNoWholeSquare) {
  const Problem p = problem_of(type_, {1, 203, 1025, false, true});
  Plan plan = make_plan(p, target_, 1, false);
  // Sums of 16-bit floats would wait in a workspace, which this plan has not.
  if (!plan.schedule.turns_b || kernels_.widens()) return;
  plan.schedule.fetched = FarOperand::lines_of_turned_b;
  plan.schedule.turns_two_groups = false;
  plan.schedule.kc = p.k - 1;
  const Operands operands(p, 0, 1);
  const Bytes want = expected(p, operands);
  const Bytes workspace(plan.workspace_bytes, 0), got(Operands::bytes_of(p, p.n), 0);
  run(plan, operands.a.data(), operands.b.data(), nullptr, got.data(), workspace.data(), one_thread_);
  EXPECT_EQ(difference(type_, got.data(), want.data(), p.n), "");
  EXPECT_TRUE(workspace.guards_are_whole() && got.guards_are_whole());
}

}  // namespace
}  // namespace binet::kernels::gemm
