// Every type on every target of this machine, against plain loops: products with a short K, many tiles of which take
// one call, side by side or one below the other.
#include <gtest/gtest.h>

#include "base/cache_size.h"
#include "base/target.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

class GemmRowsOfTiles : public TypeOnTargetTest {
 protected:
  /// In lines and off them: what is expected, and the same bits from two threads.
  void check_wherever_it_begins(Case c) {
    for (const std::size_t misalignment : {0, 1, 8}) {  // B has twice as much
      vary(c);
      const Problem p = problem_of(type_, c);
      const Operands operands(p, misalignment, 1);
      check(c, operands, {false}, misalignment);
      const Bytes want = compute(p, operands, target_, one_thread_), got = compute(p, operands, target_, two_threads_);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " at " << misalignment;
    }
  }

 private:
  const ThreadPool two_threads_{2};
};

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmRowsOfTiles, testing::ValuesIn(types_on_targets()), name_of);

/// With vectors of half a line, B is packed for rows that meet in few sets of a cache, or are long, as they are: not
/// for few of them, nor with a long K, nor to apply factors, nor for a Y that is streamed.
TEST_P(GemmRowsOfTiles, ArePlanned) {
  if (!kernels_.has_short_vectors || kernels_.widens()) return;
  const std::int64_t page = 4096 / kernels_.element_bytes, lines = page - 64 / kernels_.element_bytes;
  const auto packs = [this](const Case& c, int threads) {
    const Plan plan = make_plan(problem_of(type_, c), target_, threads, false);
    return plan.way == Way::items && plan.schedule.b_source == BSource::strips;
  };
  EXPECT_TRUE(packs({60, page, 12}, 1) && packs({60, 2 * page, 12}, 1) && packs({64, page, 20}, 2));
  EXPECT_FALSE(packs({31, page, 12}, 1) || packs({60, page, 12}, 2) || packs({60, page - 9, 12}, 1));
  if (!is_float(type_) && kernels_.element_bytes == 8) {
    EXPECT_FALSE(packs({60, page, 7}, 1) || packs({128, 2 * page - 9, 12}, 1));
    return;
  }
  EXPECT_TRUE(packs({128, 2 * page - 9, 12}, 1) && packs({128, page / 2, 12}, 1) && packs({512, page / 2, 90}, 2));
  EXPECT_FALSE(packs({127, 2 * page - 9, 12}, 1) || packs({127, page / 2, 12}, 1) || packs({300, page / 2, 12}, 2));
  EXPECT_TRUE(packs({128, lines, 96}, 1));
  EXPECT_FALSE(packs({128, lines, 12}, 1));
  EXPECT_FALSE(packs({60, page, 12, false, false, CForm::none, 2}, 1));
  const std::int64_t far_rows = last_level_cache_bytes() / 3 / 4096;
  EXPECT_FALSE(packs({far_rows, page, 6}, 1));
  EXPECT_TRUE(packs({far_rows, page, 12}, 1));
}

/// Rows and columns around whole tiles, an A of either layout, all forms of C.
TEST_P(GemmRowsOfTiles, SideBySide) {
  const std::int64_t page = 4096 / kernels_.element_bytes, nr = kernels_.nr;
  std::size_t products = 0;
  for (const std::int64_t n : {page, 2 * page, 2 * page - 9, 2 * page + nr - 1, page / 2 + 1}) {
    for (const std::int64_t m : {132, 133, 137}) {
      for (const std::int64_t k : {4, 13, 71}) {
        Case c{m, n, k, products % 4 == 1};
        vary(c);
        if (products % 2 == 0) c.alpha = c.beta = 1;
        check(c, products % 4 < 2 ? 0 : byte_size(type_) + 1);
        ++products;
      }
    }
  }
  // Up to the longest K that takes one call, and beyond; a B that is packed once, and one that is not packed.
  for (const std::int64_t k : {159, 160, 161}) check(Case{60, page, k, false, false, CForm::row});
  check(Case{40, 5 * page - 24, 30, false, false, CForm::column}, byte_size(type_));
}

/// The same of panels of a Y that is near, with an A in rows and a B that is packed once: whole tiles of six rows and
/// of five, or one more row than that.
TEST_P(GemmRowsOfTiles, OneBelowTheOther) {
  const std::int64_t nr = kernels_.nr;
  const auto shape_of = [&](std::int64_t i) {
    constexpr std::int64_t kRows[] = {12, 20, 61, 125}, kInner[] = {200, 511, 513};
    return Case{kRows[i % 4], 20 * nr + (i % 2) * (nr / 2 + 1), kInner[i % 3]};
  };
  if (has_short_floats(kernels_)) {
    const Plan plan = make_plan(problem_of(type_, shape_of(0)), target_, 1, true);
    EXPECT_TRUE(plan.way == Way::items && plan.schedule.b_source == BSource::given && plan.schedule.a_is_direct);
  }
  for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
    for (std::int64_t i = 0; i < 12; ++i) {
      Case c = shape_of(i);
      c.c = form;
      check(c, Operands(problem_of(type_, c), 0, 1), {true}, i % 3 == 0 ? byte_size(type_) : 0);
    }
  }
}

/// Threads have rows, or columns, of their own.
TEST_P(GemmRowsOfTiles, OfThreads) {
  const std::int64_t page = 4096 / kernels_.element_bytes;
  const ThreadPool pools[] = {ThreadPool(2), ThreadPool(3), ThreadPool(8)};
  for (const Case& c :
       {Case{301, page, 30, false, false, CForm::full}, Case{1030, page / 2, 50, true, false, CForm::column},
        Case{75, 4 * page, 100, false, false, CForm::column}}) {
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    const Bytes want = compute(p, operands, target_, one_thread_);
    for (const ThreadPool& pool : pools) {
      const Bytes got = compute(p, operands, target_, pool);
      EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " threads " << pool.threads();
    }
  }
}

/// With vectors of half a line, a given B whose rows would meet is copied, for many rows of Y: not a small one, nor
/// rows that do not meet, nor a packed B.
TEST_P(GemmRowsOfTiles, RowsOfBAreSpread) {
  if (!kernels_.has_short_vectors || kernels_.widens()) return;
  const std::int64_t line = 64 / kernels_.element_bytes, n = 8 * line;
  const auto spreads = [this](const Case& c, int threads, bool is_packed) {
    const Plan plan = make_plan(problem_of(type_, c), target_, threads, is_packed);
    return plan.schedule.b_given_step != 0 && !plan.schedule.copies_b_off_lines;
  };
  EXPECT_TRUE(spreads({500, n, 64}, 1, false) && spreads({500, 2 * n, 64}, 1, false));
  EXPECT_FALSE(spreads({499, n, 64}, 1, false) || spreads({999, n, 64}, 2, false) || spreads({500, n, 63}, 1, false));
  EXPECT_FALSE(spreads({500, n + line, 64}, 1, false) || spreads({500, n, 64}, 1, true));
  // And rows off lines.
  const std::int64_t few = kernels_.element_bytes == 8 ? 200 : 64, columns = 7 * line / 2;
  EXPECT_TRUE(spreads({few, columns, 200}, 1, false));
  EXPECT_FALSE(spreads({few - 1, columns, 200}, 1, false) || spreads({few, columns, 179}, 1, false) ||
               spreads({few, columns, 700}, 1, false) || spreads({few, columns, 200}, 2, false));
  const Case long_k = {few + 3, columns, 560};
  if (is_float(type_)) {
    EXPECT_EQ(make_plan(problem_of(type_, long_k), target_, 1, false).way, Way::items);
    EXPECT_TRUE(spreads(long_k, 1, false));
  }
  for (const Case& sizes :
       {Case{500, n, 64}, Case{503, 2 * n, 70}, Case{1001, n, 100}, Case{few + 3, columns, 190}, Case{600, 2 * n, 256},
        Case{2 * few, columns + 3, 200}, Case{4 * few, 5 * line + 1, 185}, long_k}) {
    check_wherever_it_begins(sizes);
  }
}

TEST_P(GemmRowsOfTiles, WholeLinesOfBThatBeginsNoLineAreCopied) {
  if (!kernels_.has_short_vectors || kernels_.element_bytes != 4) return;
  const std::int64_t n = 48;
  const auto copies = [this](const Case& c, int threads) {
    return make_plan(problem_of(type_, c), target_, threads, false).schedule.copies_b_off_lines;
  };
  EXPECT_TRUE(copies({96, n, 560}, 1) && copies({200, n, 300}, 2));
  EXPECT_FALSE(copies({31, n, 560}, 1) || copies({96, n + 1, 560}, 1) || copies({96, n, 700}, 1) ||
               copies({96, 16, 560}, 1) || copies({63, n, 560}, 2));
  for (const Case& sizes : {Case{96, n, 560}, Case{67, 4 * n, 150}, Case{203, n, 300}, Case{411, 2 * n, 101}}) {
    check_wherever_it_begins(sizes);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
