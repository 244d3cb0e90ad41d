#include "kernels/gemm/items.h"

#include <gtest/gtest.h>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/plan/near_b.h"
#include "operators/gemm_call.h"

namespace binet::kernels::gemm {
namespace {

Schedule schedule_of(std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
  const Problem problem = row_major_problem(ElementType::f32, m, n, k, false, false, nullptr);
  return make_plan(problem, default_target(), threads, false).schedule;
}

TEST(Items, GiveEachThreadAboutAsMuch) {
  for (const std::int64_t size : {256, 500, 512, 1000, 1024, 2048}) {
    for (const int threads : {2, 3, 4, 8}) {
      const Schedule s = schedule_of(size, size, size, threads);
      ASSERT_EQ(s.workers, threads) << size;
      const std::int64_t most = (s.items + threads - 1) / threads * s.item_rows * s.item_columns;
      EXPECT_LE(static_cast<double>(most), 1.12 * static_cast<double>(size * size) / threads)
          << size << " on " << threads << ": " << s.items << " items of " << s.item_rows << " x " << s.item_columns;
    }
  }
}

TEST(Items, AreSharedWhereThatSavesTime) {
  EXPECT_EQ(schedule_of(16, 16, 16, 8).workers, 1);
  EXPECT_EQ(schedule_of(40, 40, 40, 8).workers, 1);
  EXPECT_EQ(schedule_of(2, 1000, 30, 8).workers, 1) << "its B is in a core's own caches";
  const std::int64_t rows_near = second_level_cache_bytes() / 2 / (1100 * 4);
  EXPECT_EQ(schedule_of(rows_near, 1100, 1, 8).workers, 1) << "workers would take rows of Y from each other";
  EXPECT_EQ(schedule_of(1000, 120, 2, 2).workers, 2);
  // Short vectors take longer for as many multiply-adds.
  const std::int64_t rows_of_strips = 120 * find_kernels(ElementType::f32, default_target())->lanes / 16;
  EXPECT_EQ(schedule_of(rows_of_strips, 300, 16, 2).workers, 1) << "strips of Y are prefetched for the wrong worker";
  EXPECT_EQ(schedule_of(300, 64, 32, 2).workers, 2);
  EXPECT_EQ(schedule_of(400, 200, 20, 2).workers, 2);
  EXPECT_GT(schedule_of(72, 72, 72, 8).workers, 1);
  EXPECT_LT(schedule_of(72, 72, 72, 8).workers, 4) << "calling eight would take longer than the product";
  EXPECT_TRUE(schedule_of(72, 72, 72, 8).is_short);
  EXPECT_EQ(schedule_of(512, 512, 512, 8).workers, 8);
  EXPECT_FALSE(schedule_of(512, 512, 512, 8).is_short);
}

/// On Zen 5, with B in registers.
TEST(Items, AreColumnsOfAFewLongRows) {
  if (!follows_one_run_best(*find_kernels(ElementType::f32, default_target()))) return;
  const Schedule s = schedule_of(6, 28862, 7, 2);
  EXPECT_TRUE(s.keeps_b_in_registers && s.workers == 2 && s.items == 2 && s.item_rows == 6);
  EXPECT_EQ(s.item_columns, 14464) << "whole panels of four vectors";
  EXPECT_EQ(schedule_of(6, 28862, 7, 1).item_columns, 0);
  EXPECT_EQ(schedule_of(200, 6000, 8, 2).item_columns, 0) << "so many rows are shared by rows";
}

TEST(Items, AreNoFewerThanTheWorkers) {
  for (const std::int64_t m : {1, 2, 7, 100}) {
    for (const std::int64_t n : {1, 3, 5, 32, 33, 100}) {
      const Schedule s = schedule_of(m, n, 4000, 16);
      EXPECT_LE(s.workers, s.items) << m << " x " << n;
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
