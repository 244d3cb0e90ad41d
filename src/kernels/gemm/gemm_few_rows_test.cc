// Every type on every target of this machine, against plain loops: the ways of few rows, which read a B that is not
// packed once and in the order of memory.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/plan/few_rows.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmFewRows = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmFewRows, testing::ValuesIn(types_on_targets()), name_of);

/// One row and a few, times a B, transposed or not, that is large enough to be read once, as it lies: around vectors,
/// around the rows of B taken together, beyond the columns whose sums wait together, and beyond a range of k.
TEST_P(GemmFewRows, FewRowsOfALargeB) {
  for (const Case& sizes :
       {Case{1, 1003, 137}, Case{2, 1031, 355}, Case{3, 1031, 131}, Case{1, 16421, 129}, Case{2, 4133, 131},
        Case{1, 263, 4105}, Case{5, 40, 3333}, Case{1, 12, 137}, Case{2, 7, 355}, Case{5, 13, 301}, Case{8, 9, 1031},
        Case{7, 3, 260}, Case{3, 37, 139}, Case{1, 37, 2048}, Case{2, 20, 2048}, Case{4, 1024, 203}, Case{3, 512, 411},
        Case{4, 1031, 403}}) {
    for (const int transposes : {0, 1, 2, 3}) {
      Case c = sizes;
      c.trans_a = (transposes & 1) != 0;
      c.trans_b = (transposes & 2) != 0;
      vary(c);
      check(c, transposes == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// A B from memory, and more rows than read it in its order at a time, where rows of B meet; elsewhere Zen 5's tiles
/// find it sooner.
TEST_P(GemmFewRows, RowsTakeTurnsAtAB) {
  if (!leaves_b_to_hardware(kernels_) || kernels_.multiply_few_rows == nullptr) return;
  const std::int64_t k = 133, that_meet = 2048 / kernels_.element_bytes;
  const std::int64_t n = round_up(last_level_cache_bytes() / (k * kernels_.element_bytes) + 37, that_meet);
  for (const std::int64_t m : {2, 3, 4, 7}) {
    Case c{m, n, k, m == 4};
    vary(c);
    const auto takes_turns = [&](const Case& of) {
      return make_plan(problem_of(type_, of), target_, 1, false).schedule.has_few_rows;
    };
    Case apart = c;
    apart.n += 37;
    EXPECT_TRUE(takes_turns(c) || m > 3);
    EXPECT_FALSE(takes_turns(apart) && kernels_.element_bytes >= 4 && follows_one_run_best(kernels_));
    if (takes_turns(c)) check(c, Operands(problem_of(type_, c), 0, 1), {false});
    if (m == 2) check(apart, Operands(problem_of(type_, apart), 0, 1), {false});
  }
}

/// With vectors of half a line, one thread and seven or eight rows, a B from afar, whose long rows meet in few sets of
/// the caches, is read twice, by half of them each time. Not by six rows, which are one tile, nor by nine; nor by two
/// threads.
TEST_P(GemmFewRows, TwoPassesOverAB) {
  if (!has_short_floats(kernels_)) return;
  const std::int64_t page = 4096 / kernels_.element_bytes, far = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  const auto rows = [&](const Case& c, int threads) {
    const Schedule s = make_plan(problem_of(type_, c), target_, threads, false).schedule;
    return s.has_few_rows ? s.item_rows : 0;
  };
  for (Case c : {Case{7, 4 * page, 1}, Case{8, 5 * page, 5, true}, Case{8, 6 * page + page / 2, 9}}) {
    c.k += far / c.n;
    vary(c);
    Case one_tile = c, more = c, near = c, odd_rows = c;
    one_tile.m = 6;
    more.m = 9;
    near.k -= 10;
    odd_rows.n += 8;
    EXPECT_EQ(rows(c, 1), 4) << c;
    EXPECT_NE(rows(one_tile, 1), 3) << c;
    EXPECT_EQ(rows(more, 1) + rows(near, 1) + rows(odd_rows, 1) + rows(c, 2), 0) << c;
    check(c, Operands(problem_of(type_, c), 0, 1), {false});
  }
}

/// Rows of B one after the other: columns that are whole vectors and others, K from the least on, all forms of C, an A
/// of either layout, and more K than sums wait for at a time.
TEST_P(GemmFewRows, RowAfterRow) {
  for (const Case& sizes : {Case{1, 512, 64}, Case{1, 513, 65}, Case{1, 639, 31, true}, Case{1, 1000, 16},
                            Case{1, 1027, 131}, Case{1, 257, 4099}, Case{1, 2047, 35, true}}) {
    for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
      Case c = sizes;
      c.c = form;
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      const bool may_gain = kernels_.element_bytes >= 4 && kernels_.multiply_few_rows != nullptr;
      if (may_gain && follows_one_run_best(kernels_) && kernels_.in_place == nullptr && c.n >= 512) {
        EXPECT_TRUE(schedule.has_few_rows && schedule.rows_of_b == 1) << c;
      }
      check(c, form == CForm::row ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Two workers each read a part of every row (that the bits stay is in gemm_bits_test.cc).
TEST_P(GemmFewRows, WorkersReadRowsTogether) {
  const Plan plan = make_plan(problem_of(type_, {1, 4096, 1024}), target_, 2, false);
  const Schedule& schedule = plan.schedule;
  if (has_amx(target_) && plan.way == Way::tiled) return;  // has few rows of its own
  if (!schedule.has_few_rows || schedule.workers == 1) return;
  EXPECT_GE(schedule.rows_of_b, kRowsOfB);
}

/// The same of a B so large that its lines are fetched.
TEST_P(GemmFewRows, FetchesRowAfterRow) {
  if (!follows_one_run_best(kernels_) || kernels_.multiply_few_rows == nullptr || kernels_.in_place != nullptr) return;
  const bool is_by_halves = !is_float(type_) && byte_size(type_) == 8;  // which tiles take, if rows do not meet
  for (const std::int64_t n : {1024, is_by_halves ? 1280 : 2045}) {
    Case c{1, n, last_level_cache_bytes() / 4 / (n * kernels_.element_bytes) + 3, n == 1024};
    vary(c);
    const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
    if (kernels_.element_bytes < 4) continue;  // are widened on their way
    EXPECT_TRUE(schedule.rows_of_b == 1 && schedule.near_b != 0) << c;
    check(c, n == 1024 ? 0 : byte_size(type_) + 1);
  }
}

/// With vectors of half a line, a B from the far end of the last-level cache, or from memory: a line of each of eight
/// rows has its turn, and nothing is fetched. Rows that are no whole lines, and a number of them that is none of
/// eights.
TEST_P(GemmFewRows, ReadsAFarBLineByLine) {
  const bool is_known = kernels_.has_short_vectors && !kernels_.widens() && (is_float(type_) || byte_size(type_) == 4);
  if (!is_known) return;
  for (const std::int64_t n : {1024, 1031, 2053}) {
    Case c{1, n, last_level_cache_bytes() / 4 / (n * kernels_.element_bytes) + 3, n == 1031};
    vary(c);
    const auto schedule = [&](const Case& of) { return make_plan(problem_of(type_, of), target_, 1, false).schedule; };
    Case near = c;
    near.k /= 2;
    EXPECT_TRUE(schedule(c).has_few_rows && schedule(c).near_b == 0) << c;
    EXPECT_TRUE(schedule(near).has_few_rows && schedule(near).near_b != 0) << near;
    check(c, n == 1024 ? 0 : byte_size(type_) + 1);
  }
}

/// All sums of a row, or of a strip of it, in registers: columns around each number of vectors that has a function, an
/// even and an odd k, all forms of C, an A of either layout.
TEST_P(GemmFewRows, SumsOfARowInRegisters) {
  const std::int64_t lanes = kernels_.lanes, most = kernels_.most_columns_of_row;
  const auto keeps_sums = [this](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.keeps_sums_in_registers;
  };
  if (most > 0) {
    EXPECT_TRUE(keeps_sums({1, 7 * lanes, 256}) && keeps_sums({1, most, 128}));
    EXPECT_EQ(keeps_sums({1, most + 5, 200, true}), !follows_one_run_best(kernels_));
    EXPECT_FALSE(keeps_sums({2, 7 * lanes, 256}) || keeps_sums({1, 6 * lanes - 1, 256}) || keeps_sums({1, most, 127}) ||
                 keeps_sums({1, most, 300, false, true}));
    EXPECT_FALSE(keeps_sums({1, most + 5, second_level_cache_bytes() / (most * kernels_.element_bytes)}));
  } else {
    EXPECT_FALSE(keeps_sums({1, 7 * lanes, 256}));
  }
  // Beyond the second-level cache, where rows of B take turns on each CPU.
  const std::int64_t far_k = second_level_cache_bytes() / ((most + 1) * kernels_.element_bytes) + 40;
  for (const std::int64_t columns : {most, most - 4 * lanes - 3}) {
    if (columns > 0) check({1, columns, columns == most ? far_k : 2 * far_k});
  }
  std::size_t products = 0;
  for (const std::int64_t vectors : {6, 8, 11, 12, 13, 16, 17, 20, 21, 40, 41, 61}) {
    for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, lanes - 1}) {
      for (const std::int64_t k : {256, 301}) {
        Case c{1, vectors * lanes + more, k, products % 2 == 1};
        vary(c);
        check(c, products % 3 == 0 ? 0 : byte_size(type_) + (products % 2 == 0 ? 1 : 0));
        ++products;
      }
    }
  }
}

/// One low tile of rows, and rows of B that are longer than a page, on lines and off them: with vectors of half a line
/// not at once.
TEST_P(GemmFewRows, LowTilesOfLongRows) {
  for (const std::int64_t row_bytes : {6400, 4504}) {
    const std::int64_t n = row_bytes / kernels_.element_bytes;
    for (const std::int64_t m : {2, 3, 4, 5, 6}) {
      Case c{m, n, 97, m % 2 == 0};
      vary(c);
      if (has_short_floats(kernels_) && (m == 3 || m == 4)) {
        EXPECT_EQ(make_plan(problem_of(type_, c), target_, 1, false).way, Way::items) << c;
      }
      check(c, row_bytes % 64 == 0 ? 0 : byte_size(type_) + 1);
    }
  }
}

/// Rows of 16-bit floats, which are widened on their way from a B of any size, if columns are enough for K.
TEST_P(GemmFewRows, SmallBOfWidenedRows) {
  for (const std::int64_t m : {1, 2}) {
    for (const std::int64_t n : {39 * m, 40 * m, 53 * m, 128 * m - 1, 128 * m, 300 * m + 1}) {
      for (const std::int64_t k : {9, 20, 27, 81, 301}) {
        Case c{m, n, k, (n + k) % 2 == 0};
        vary(c);
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        if (kernels_.has_short_vectors && kernels_.widens() && plan.way == Way::items) {
          EXPECT_EQ(plan.schedule.has_few_rows, n >= 128 * m || (n >= 40 * m && 2 * k <= n)) << c;
        }
        check(c, k % 3 == 0 ? byte_size(type_) + 1 : 0);
      }
    }
  }
}

/// Rows of B that are a little more or less than a page apart: to rows that read them in their order, to tiles that
/// pass over sums, to those that have B packed.
TEST_P(GemmFewRows, RowsThatNearlyMeet) {
  const std::int64_t page = 4096 / kernels_.element_bytes;
  const std::int64_t k = second_level_cache_bytes() / 2048 + 41;  // of more than L2
  for (const std::int64_t n : {page - 1, page + 1, page + 4}) {
    for (const std::int64_t m : {2, 3, 8, 13}) {
      if (m == 8 && n > page) continue;
      Case c{m, n, k, (m + n) % 3 == 0};
      vary(c);
      if (has_short_floats(kernels_) && type_ == ElementType::f32 && n % page != 4) {
        const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
        EXPECT_EQ(schedule.has_few_rows, m == 2 || m == 3) << c;
        EXPECT_EQ(schedule.b_source == BSource::direct, m <= 8) << c;
      }
      check(c, m % 2 == 1 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// A constant B: one row reads wide panels side by side, the last of them together with a narrow one.
TEST_P(GemmFewRows, PanelsOfARow) {
  const std::int64_t lanes = kernels_.lanes, nr = kernels_.nr;
  for (const std::int64_t panels : {1, 2, 3, 4, 5, 8, 9, 11, 17}) {
    for (const std::int64_t more : {std::int64_t{0}, lanes / 2, lanes - 1, lanes, nr - 1}) {
      // So many that B is not kept in rows; and more than a range of k.
      const std::int64_t least_k = 41 * 1024 / (panels * nr) + 1;
      for (const std::int64_t k : {least_k, std::max(least_k, 2 * kernels_.kc + 3)}) {
        Case c{1, panels * nr + more, k, more == lanes};
        vary(c);
        const Problem p = problem_of(type_, c);
        const Plan plan = make_plan(p, target_, 1, true);
        if (kernels_.multiply_row_of_panels != nullptr) {
          EXPECT_TRUE(plan.way == Way::items && plan.schedule.b_source == BSource::given) << c;
        }
        check(c, Operands(p, byte_size(type_) + 1, 1), {true}, byte_size(type_) + 1);
      }
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
