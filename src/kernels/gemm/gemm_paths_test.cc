// Every type on every target of this machine, against plain loops: the ways that large, long and narrow products take.
#include <gtest/gtest.h>

#include "base/cache_size.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/plan/b_in_place.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmPaths = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmPaths, testing::ValuesIn(types_on_targets()), name_of);

/// A few of B's rows at a time meet all columns, or all of an item: sums wait beside each other, group by group. With
/// short vectors only where B's rows meet in few sets of the caches, as those of one case do; where hardware follows
/// rows, only two low tiles of floats.
TEST_P(GemmPaths, FarB) {
  for (const Case& sizes : {Case{13, 1300, 420}, Case{3, 4100, 135, true}, Case{25, 4400, 70}, Case{6, 2100, 261},
                            Case{7, 4096, 150}, Case{14, 4400, 500}}) {
    Case c = sizes;
    vary(c);
    const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
    const std::int64_t bytes = c.n * c.k * static_cast<std::int64_t>(byte_size(type_));
    const std::int64_t most_in_place = kernels_.has_short_vectors ? 2 * kernels_.mr : byte_size(type_) == 2 ? 13 : 128;
    const bool has_low_tiles = is_float(type_) && c.m > kernels_.mr && c.m <= 16;
    const bool is_followed = !has_low_tiles || bytes <= last_level_cache_bytes() / 8;
    const bool comes_by_itself =
        leaves_b_to_hardware(kernels_) ? is_followed : kernels_.has_short_vectors && c.n % 1024 != 0;
    if (bytes > 2 << 20 && kernels_.in_place == nullptr && c.m <= most_in_place) {
      EXPECT_EQ(schedule.b_is_far, !comes_by_itself);
    }
    check(c);
  }
}

/// More than a few tiles of rows, and a B that they read where it lies, in ranges of k.
TEST_P(GemmPaths, ManyRowsAndBInPlace) {
  for (const Case& sizes : {Case{57, 300, 900}, Case{61, 1040, 531, true}, Case{49, 999, 1025}}) {
    Case c = sizes;
    vary(c);
    const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
    if (leaves_b_to_hardware(kernels_) && kernels_.in_place == nullptr && byte_size(type_) >= 4) {
      EXPECT_EQ(schedule.b_source, BSource::direct);
      EXPECT_FALSE(schedule.b_is_far);
      EXPECT_LT(schedule.kc, c.k);
    }
    check(c);
  }
}

/// A vector of columns and up to half of another, or up to half of one alone: where units are half a vector wide, those
/// are computed apart. All at once, in ranges of k, with an A that is packed, and with segments.
TEST_P(GemmPaths, HalfAVectorOfLastColumns) {
  const std::int64_t lanes = kernels_.lanes, half = lanes / 2;
  for (const Case& sizes :
       {Case{41, lanes + half, 37}, Case{24, half, 20}, Case{16, lanes + 2, 71}, Case{30, 3, 25},
        Case{100, lanes + half - 1, 1100}, Case{601, lanes + half, 300, true}, Case{12, lanes + half, 9000},
        Case{9, lanes + 2, 40}, Case{23, half - 1, 130, true}, Case{21, 2 * lanes + half, 70},
        Case{37, 3 * lanes + half, 71}, Case{70, 3 * lanes + 2, 600}, Case{50, 7 * lanes + 1, 330, true}}) {
    if (sizes.n <= 0) continue;
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    if (plan.way == Way::items || plan.way == Way::at_once) {
      EXPECT_EQ(plan.schedule.ends_in_halves, has_units_of_half_vectors(target_));
    }
    check(c);
  }
}

/// Rows of A that are 4 KiB apart, or nearly so: tiles have no more of them than a set of the first-level cache has
/// lines.
TEST_P(GemmPaths, RowsOfAThatMeet) {
  const auto k = static_cast<std::int64_t>(4096 / byte_size(type_));
  for (const Case& sizes :
       {Case{37, 7, k}, Case{21, 17, k + 1}, Case{40, 100, k}, Case{13, 33, k}, Case{100, 5, 2 * k}}) {
    Case c = sizes;
    vary(c);
    const Problem p = problem_of(type_, c);
    const Plan plan = make_plan(p, target_, 1, false);
    const Schedule& schedule = plan.schedule;
    if (plan.way == Way::items && schedule.a_is_direct && p.a_column_step == 1 && byte_size(type_) >= 4) {
      EXPECT_LE(schedule.tile_rows, 8);
    }
    check(c);
  }
}

/// Where rows of B begin off lines, a tile fetches the one in which the next tile ends.
TEST_P(GemmPaths, RowsOfBOffLines) {
  const std::int64_t k = last_level_cache_bytes() / 2 / (3001 * kernels_.element_bytes);
  const Plan plan = make_plan(problem_of(type_, Case{6, 3001, k}), target_, 1, false);
  const Schedule& s = plan.schedule;
  if (has_short_floats(kernels_)) {
    EXPECT_TRUE(plan.way == Way::items && s.b_source == BSource::direct && !s.has_few_rows);
    EXPECT_EQ((s.near_b + 1) * kernels_.element_bytes, 64);
  }
  check(Case{6, 1001, 40});
}

/// With a longer K four rows to six pass over sums, so that a line in which two tiles meet is still near for the
/// second.
TEST_P(GemmPaths, FewRowsAndRowsOfBOffLines) {
  const std::int64_t columns = 2000 / kernels_.element_bytes + 1;
  const bool computes_quickly = is_float(type_) || byte_size(type_) < 8;
  const bool may_share = kernels_.has_short_vectors && !kernels_.widens() && computes_quickly;
  for (const Case& sizes : {Case{4, columns, 201}, Case{6, columns, 190}, Case{3, columns, 201}, Case{7, columns, 201},
                            Case{5, columns, 150}, Case{5, columns - 1, 201}}) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    const bool has_whole_lines = c.n * kernels_.element_bytes % 64 == 0;
    if (may_share && !has_whole_lines && plan.schedule.b_source == BSource::direct) {
      EXPECT_EQ(plan.way == Way::items && plan.schedule.kc < c.k, c.m >= 4 && c.m <= kernels_.mr && c.k > 160) << c;
    }
    check(c, c.m == 6 ? byte_size(type_) + 1 : 0);
  }
}

/// A vector of columns, in tiles of twelve rows or sixteen where floats have those, and what is left of the rows in
/// others, which follow each other in Y or not; all at once, and in ranges of k whose sums wait.
TEST_P(GemmPaths, RowsOfOneVector) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {11, 12, 13, 18, 24, 31, 100}) {
    for (const std::int64_t n : {lanes / 2 + 1, lanes}) {
      for (const std::int64_t k : {1, 9, 128, 131}) {
        Case c{m, n, k, (m + k) % 2 == 0, k == 9};
        vary(c);
        check(c, m % 2 == 1 ? byte_size(type_) : 0);
      }
    }
  }
  check(Case{37, lanes, 4200});
  check(Case{37, lanes, 4200, true});
}

/// Tiles fetch rows of B, where it lies, just before they read them: its last rows have none behind them.
TEST_P(GemmPaths, LongKOfBInPlace) {
  for (const Case& sizes : {Case{5, 133, 700}, Case{12, 70, 1030}, Case{7, 64, 601}, Case{16, 37, 257, true}}) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    const bool is_in_place = plan.way == Way::items && plan.schedule.b_source == BSource::direct;
    if (is_in_place && !plan.schedule.b_is_far && kernels_.has_short_vectors) {
      EXPECT_EQ(plan.schedule.near_b >= c.n, c.n * c.k * kernels_.element_bytes > 64 * 1024);
    }
    check(c);
  }
}

/// A Y of one tile, which has no other tile to keep B near for: longer ranges of k, and several of them in a segment.
TEST_P(GemmPaths, OneTileOfALongK) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {lanes, lanes - 1}) {
    for (const std::int64_t n : {lanes, lanes - 1}) {
      for (const std::int64_t k : {1100, 4095, 8000, 9000}) {
        if (m == 0 || n == 0) continue;
        Case c{m, n, k, k == 9000};
        vary(c);
        const Schedule s = make_plan(problem_of(type_, c), target_, 1, false).schedule;
        const bool is_direct = s.b_source == BSource::direct && s.segment_k > 0 && !s.turns_b && !s.has_few_rows;
        if (is_direct && !kernels_.widens()) {
          EXPECT_GT(s.kc, kernels_.kc) << c;
        }
        check(c);
      }
    }
  }
}

/// B is packed by the first tiles that read it: around tiles of rows, panels, and ranges of k.
TEST_P(GemmPaths, TilesThatPackB) {
  if (kernels_.pack_and_multiply == nullptr || kernels_.has_short_vectors) return;
  const std::int64_t mr = kernels_.mr, nr = kernels_.nr, lanes = kernels_.lanes;
  for (const std::int64_t m : {2 * mr, 2 * mr + 1, 3 * mr - 1, 11 * mr}) {
    for (const std::int64_t n : {3 * nr + 2, 3 * nr + lanes - 1, 4 * nr - 1, 9 * nr + lanes + 3}) {
      for (const std::int64_t k : {131, 600}) {
        Case c{m, n, k, (m + n) % 3 == 0};
        vary(c);
        if (n * k * kernels_.element_bytes > 32 * 1024) {
          EXPECT_TRUE(make_plan(problem_of(type_, c), target_, 1, false).schedule.tiles_pack_b);
        }
        check(c, k == 131 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  check(Case{11 * mr, 12 * nr, 256, false, false, CForm::full});
}

/// 16-bit floats for so many rows that B is widened before tiles read it, wherever that begins to pay: a strip at a
/// time, and all of a constant one.
TEST_P(GemmPaths, WidensBForManyRows) {
  if (byte_size(type_) != 2) return;
  const std::int64_t nr = kernels_.nr;
  for (const Case& sizes : {Case{771, 2 * nr + 5, 131}, Case{802, 3 * nr, 600, true}}) {
    Case c = sizes;
    vary(c);
    check(c);
    const Schedule given = make_plan(problem_of(type_, c), target_, 1, false).schedule;
    EXPECT_TRUE(kernels_.widen == nullptr || given.b_source != BSource::direct || given.widens_b) << c;
  }
}

/// A larger B than that, on AMD's CPUs: as its rows meet, nearly do, or lie off lines.
TEST_P(GemmPaths, TilesThatPackLargeB) {
  const bool are_floats = is_float(type_) && byte_size(type_) >= 4;
  if (!are_floats || !leaves_b_to_hardware(kernels_)) return;
  const auto packs = [this](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.tiles_pack_b;
  };
  const std::int64_t bytes = kernels_.element_bytes;
  const std::int64_t meet = 8192 / bytes, nearly = 6144 / bytes, off = 3000 / bytes;  // columns
  EXPECT_FALSE(packs({19, meet, 90}) || packs({20, meet, 80}) || packs({20, meet, 321}) || packs({769, meet, 320}));
  EXPECT_FALSE(packs({128, nearly, 90}) || packs({59, off, 360}) || packs({769, off, 360}));
  for (const Case& c : {Case{20, meet, 90}, Case{20, meet, 320}, Case{63, meet + 1, 513, false, false, CForm::full},
                        Case{129, nearly, 90}, Case{60, off, 360}, Case{101, off, 601, false, false, CForm::row}}) {
    EXPECT_TRUE(packs(c)) << c;
    check(c, Operands(problem_of(type_, c), 0, 1), {false});
  }
}

/// The same with vectors of half a line, for which strips are packed so: around tiles of rows, which are as high as may
/// be, panels, strips, and ranges of k.
TEST_P(GemmPaths, HighTilesThatPackB) {
  if (kernels_.pack_and_multiply == nullptr || !kernels_.has_short_vectors) return;
  const std::int64_t nr = kernels_.nr, lanes = kernels_.lanes;
  const auto packs = [this](const Case& c) {
    return make_plan(problem_of(type_, c), target_, 1, false).schedule.tiles_pack_b;
  };
  for (const std::int64_t m : {47, 48, 49, 67, 102}) {
    for (const std::int64_t n : {9 * nr + 2, 9 * nr + lanes - 1, 12 * nr - 1, 17 * nr + lanes + 3}) {
      for (const std::int64_t k : {257, 600}) {
        Case c{m, n, k, (m + n) % 3 == 0};
        vary(c);
        EXPECT_TRUE(packs(c)) << c;
        check(c, k == 257 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  // Rather than to read B in place: off lines, and in lines.
  const std::int64_t near = second_level_cache_bytes() / kernels_.element_bytes, off = 20 * nr + 3, lines = 20 * nr;
  for (const std::int64_t m : {30, 31, 41}) {
    const Case of_off = {m, off, 2 * near / off + 9}, of_lines = {m, lines, 5 * near / lines + 9};
    EXPECT_TRUE(packs(of_off)) << m;
    // The second-level caches of some CPUs are a large part of the last-level one.
    EXPECT_TRUE(packs(of_lines) || !comes_from_caches(problem_of(type_, of_lines), kernels_)) << m;
    check(of_off, Operands(problem_of(type_, of_off), byte_size(type_), 1), {false});
    check(of_lines, Operands(problem_of(type_, of_lines), byte_size(type_), 1), {false});
  }
  EXPECT_FALSE(packs({29, off, 2 * near / off + 9}) || packs({30, off, 2 * near / off - 9}) ||
               packs({30, lines, 5 * near / lines - 9}) || packs({65, 512 * nr, 300}) || packs({49, 12 * nr + 1, 99}));
}

/// So do two low tiles with a B from afar whose rows meet: around a tile of rows, strips, and ranges of k.
TEST_P(GemmPaths, LowTilesThatPackFarB) {
  if (!leaves_b_to_hardware(kernels_) || kernels_.pack_and_multiply == nullptr || !is_float(type_)) return;
  const std::int64_t n = 2048, k = last_level_cache_bytes() / 8 / (n * kernels_.element_bytes) + 7;
  for (const std::int64_t m : {kernels_.mr + 1, std::int64_t{16}}) {
    for (const std::int64_t less : {0, 37}) {
      Case c{m, n - less, k + less, less == 0};
      vary(c);
      Problem p = problem_of(type_, c);
      EXPECT_EQ(make_plan(p, target_, 1, false).schedule.tiles_pack_b, less == 0 && is_b_far(p, kernels_)) << c;
      check(c, Operands(p, 0, 1), {false});
    }
  }
}

/// A B from the far end of the last-level cache, and a few rows: with short vectors not at once, however short Y is,
/// and in ranges of k; with so short a k that there are few rows of B, as before.
TEST_P(GemmPaths, LargeBForAFewRows) {
  if (!kernels_.has_short_vectors || kernels_.in_place != nullptr) return;
  const std::int64_t elements = last_level_cache_bytes() / 4 / kernels_.element_bytes;
  for (const std::int64_t k : {12, 20, 333}) {
    Case c{5, elements / k + 37, k};
    vary(c);
    const Problem p = problem_of(type_, c);
    const Plan plan = make_plan(p, target_, 1, false);
    if (k >= 16) {
      EXPECT_FALSE(is_at_once(plan.way)) << c;
    }
    if (k == 333 && plan.schedule.b_source == BSource::direct) {
      EXPECT_LT(plan.schedule.kc, k) << c;
    }
    check(c, Operands(p, 0, 1), {false});
  }
}

/// So much of B in place lies between two tiles' columns that low tiles fetch it themselves, and seven rows or eight,
/// or twice as many, take three vectors at a time: with what is left of the columns, and rows of B that are short.
TEST_P(GemmPaths, LowTilesOfALongB) {
  for (const std::int64_t m : {1, 2, 3, 6, 7, 8, 9, 13, 15, 16, 17}) {
    for (const std::int64_t n : {3, 4, 5, 6, 7, 10}) {
      Case c{m, n * kernels_.lanes - m % 3, 259 + n, m % 4 == 3};
      vary(c);
      check(c, n % 3 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
  check(Case{15, 3 * kernels_.lanes + 1, 1031, false, false, CForm::full});
}

/// One row and two have tiles of as many vectors as there are columns.
TEST_P(GemmPaths, RowsOfAllWidths) {
  for (const std::int64_t m : {1, 2}) {
    for (std::int64_t n = 1; n <= 9 * kernels_.lanes; n += n < 3 * kernels_.lanes ? 1 : 5) {
      Case c{m, n, 6, n % 3 == 0, false};
      vary(c);
      check(c, n % 2 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Small products with AVX2: three rows at a time, and one or two that are left, by themselves or with others;
/// as many columns as four vectors have, or more; rounds of four k, and what is left of them; rows of B that are whole
/// vectors, or not.
TEST_P(GemmPaths, ThreeRowsByFourVectors) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {7, 8, 9, 10, 11, 12, 13, 14, 16, 33, 50}) {
    for (const std::int64_t n : {4, 5, 6, 8, 11}) {
      for (const std::int64_t k : {1, 3, 4, 5, 32, 33, 95, 96, 97}) {
        Case c{m, n * lanes + (k == 3 || k >= 32 ? m % 3 : 0), k, (m + k) % 3 == 0};
        if (k % 4 == 1) vary(c);
        check(c, k == 95 ? byte_size(type_) : 0);
        if (k <= 5 || k == 32) check(Case{c.m, c.n, k, c.trans_a, false, CForm::column});
      }
    }
  }
}

/// The same where the last of four vectors begins in the one before, and rows that are left are computed twice.
TEST_P(GemmPaths, ThreeRowsByLessThanFourVectors) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {5, 6, 7, 8, 9, 25, 26, 100}) {
    for (const std::int64_t n : {3 * lanes + 1, 4 * lanes - lanes / 2, 4 * lanes - 1}) {
      for (const std::int64_t k : {1, 3, 4, 5, 32, 33}) {
        Case c{m, n, k, (m + k) % 2 == 0, m % 4 == 1};
        vary(c);
        check(c, k == 5 ? byte_size(type_) : 0);
        check(Case{m, n, k, c.trans_a, false, k % 2 == 1 ? CForm::column : CForm::full});
      }
    }
  }
}

/// Five to eight columns of f32 take two k at a time: around tiles of rows, and an odd number of k.
TEST_P(GemmPaths, PairsOfK) {
  for (const std::int64_t m : {1, 2, 3, 5, 8, 15, 16, 17, 31, 45, 1037}) {
    for (std::int64_t n = 4; n <= 9; ++n) {
      for (const std::int64_t k : {63, 64, 65, 131}) {
        Case c{m, n, k, false, (m + n) % 3 == 0};
        vary(c);
        const Problem p = problem_of(type_, c);
        EXPECT_EQ(takes_pairs(p), type_ == ElementType::f32 && n > 4 && n < 9 && k > 63) << c;
        check(c, (n + k) % 2 == 0 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  check(Case{33, 7, 8300});
  check(Case{33, 7, 200, true});
}

/// A constant B of a short K, larger than others that are kept in rows.
TEST_P(GemmPaths, WideBOfAShortK) {
  for (const std::int64_t k : {3, 8, 20, 24, 25}) {
    for (const std::int64_t m : {1, 9}) {
      Case c{m, 160 * 1024 / kernels_.element_bytes / k + m, k, k == 8, k == 20};
      vary(c);
      check(c);
    }
  }
}

/// Blocks of rows read A where it lies, though it is too large to be read so by items with as many columns.
TEST_P(GemmPaths, LargeABesideManyColumns) {
  if (!kernels_.has_short_vectors) return;
  const std::int64_t columns = 8 * kernels_.nr + 3;
  Case c{second_level_cache_bytes() / kernels_.element_bytes / 40 + 50, columns, 40};
  for (int i = 0; i < 2; ++i) {
    vary(c);
    check(c);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
