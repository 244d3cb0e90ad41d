// Every type on every target of this machine, against plain loops: the ways in which a Y that leaves the near caches,
// or for each element of which there is little to compute, is written.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/near_b.h"
#include "kernels/gemm/type_on_target_testing.h"
#include "kernels/gemm/whole_lines.h"

namespace binet::kernels::gemm {
namespace {

using GemmLargeY = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmLargeY, testing::ValuesIn(types_on_targets()), name_of);

/// Y leaves the second-level cache, B stays there.
TEST_P(GemmLargeY, ByRows) {
  for (const int transposes : {0, 1, 2, 3}) {
    Case c{390, 371, 261, (transposes & 1) != 0, (transposes & 2) != 0};
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    if (second_level_cache_bytes() >= 1 << 20 && kernels_.accumulator_bytes == 4 && plan.way != Way::tiled) {
      EXPECT_TRUE(plan.schedule.goes_by_rows);
    }
    check(c);
  }
}

/// Y leaves the first-level cache, or the second-level one, and there is little to compute for each element: a few rows
/// at a time, or tiles side by side. Columns are whole vectors, or end within one.
TEST_P(GemmLargeY, ShortK) {
  for (const Case& sizes :
       {Case{61, 301, 3}, Case{133, 1031, 20}, Case{391, 1403, 2}, Case{391, 1408, 7}, Case{1030, 535, 5, true},
        Case{515, 1060, 9, false, true}, Case{1, 140001, 3}, Case{3, 50000, 5}, Case{5, 30001, 7}, Case{8, 20003, 3},
        Case{12, 12007, 23}, Case{13, 11003, 9}, Case{118, 1849, 17}}) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    const bool is_far = c.m * c.n * kernels_.element_bytes > second_level_cache_bytes();
    const bool goes_along_rows = is_at_once(plan.way) && plan.schedule.writes_whole_lines;
    if (is_far && !goes_along_rows && kernels_.element_bytes == kernels_.accumulator_bytes) {
      EXPECT_FALSE(is_at_once(plan.way) && plan.schedule.block_rows == 0);
    }
    check(c, byte_size(type_) + 1);
  }
}

/// A small B, with vectors of half a line or, for a short k, on AMD's CPUs: A and Y pass by in blocks of rows.
TEST_P(GemmLargeY, BlocksOfRows) {
  const std::int64_t lanes = kernels_.lanes, nr = kernels_.nr;
  for (const std::int64_t m : {192, 193, 389, 1003}) {
    // The last: a block of rows as low as a tile, if there is a full C.
    for (const std::int64_t n : {nr, nr + 1, nr + lanes, 2 * nr - 1, 5 * nr + 3, 8 * nr, 150 * nr + 1}) {
      Case c{m, n, 13, n % 2 == 1};
      vary(c);
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      // With AVX-512 a wider B is packed for so many rows.
      const bool may_gain = kernels_.has_short_vectors || (leaves_b_to_hardware(kernels_) && n <= 8 * nr);
      const bool may_be_cut = may_gain && m > 192 && n > nr;
      if (may_be_cut && is_float(type_) && byte_size(type_) >= 4) {
        EXPECT_GT(schedule.block_rows, 0) << c;
      }
      check(c, m == 389 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Each k that has a kernel of its own, and one more: rows that begin anywhere in a line and end anywhere in another,
/// vectors that end a row or a line, rows that are computed twice, an A and a B of either layout, all forms of C.
TEST_P(GemmLargeY, WholeLines) {
  const bool is_offered = kernels_.most_k_of_whole_lines > 0 && leaves_b_to_hardware(kernels_);
  const std::int64_t bytes = kernels_.element_bytes, least = 512 / bytes, whole_lines = 1024 / bytes;
  for (std::int64_t k = 1; k <= 7; ++k) {
    for (std::int64_t n = least - 1; n <= least + kernels_.lanes + 1; ++n) {
      const std::int64_t of_n = n - least;
      Case c{12 + of_n % 4, n, k, of_n % 3 == 0, of_n % 5 == 0};
      vary(c);
      const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
      const bool is_short = n < least || n % kernels_.lanes == 0;
      if (is_offered && k > 1) {
        EXPECT_EQ(plan.schedule.writes_whole_lines, !is_short && k <= 6) << c;
      }
      check(c, of_n % 2 == 0 ? 0 : byte_size(type_) + (of_n % 4 == 1 ? 1 : 0));
    }
    Case wide{25, 3 * whole_lines, k};
    vary(wide);
    check(wide, byte_size(type_));
  }
  Case one_k{171, 901, 1};
  vary(one_k);
  if (is_offered) {
    EXPECT_TRUE(make_plan(problem_of(type_, one_k), target_, 1, false).schedule.writes_whole_lines);
  }
  check(one_k, byte_size(type_));
}

TEST_P(GemmLargeY, WholeLinesOnSeveralThreads) {
  const ThreadPool pools[] = {ThreadPool(2), ThreadPool(7)};
  for (const Case& sizes : {Case{301, 517, 3}, Case{25, 4001, 5, true, false, CForm::full, 2, 0.5f}}) {
    const Problem p = problem_of(type_, sizes);
    const Operands operands(p, 0, 1);
    const Bytes want = compute(p, operands, target_, one_thread_);
    for (const ThreadPool& pool : pools) {
      const Bytes got = compute(p, operands, target_, pool);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << sizes;
    }
  }
}

TEST(WholeLines, EachItemHasAsManyRowsAsGoSideBySide) {
  for (std::int64_t m = 12; m < 200; ++m) {
    for (std::int64_t items = 1; items <= 16; ++items) {
      const std::int64_t rows = rows_in_whole_lines(m, items);
      const std::int64_t last = m - (m - 1) / rows * rows;
      EXPECT_GE(last, kRowsOfWholeLines) << m << " rows, " << items << " items";
      EXPECT_LE((m + rows - 1) / rows, items);
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
