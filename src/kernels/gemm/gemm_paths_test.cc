// Every type on every target of this machine, against plain loops: the ways that large, long and narrow products take.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/b_in_place.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/near_b.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/turned_b.h"
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
  for (const Case& sizes : {Case{100, 300, 900}, Case{61, 1040, 531, true}, Case{49, 999, 1025}}) {
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

/// Rows of Y that fill vectors, or halves of them where units are half a vector wide, and a transposed B: f32 and f64
/// compute Y^T where hardware prefetchers follow B, unless squares of it are turned as quickly. With vectors of half a
/// line it is a matter of K, for integers, too.
TEST_P(GemmPaths, TransposedBOfFewRows) {
  for (const Case& sizes :
       {Case{5, 203, 331}, Case{8, 331, 128}, Case{16, 75, 1030}, Case{23, 400, 200}, Case{56, 151, 300},
        Case{2, 500, 145}, Case{3, 130, 700}, Case{12, 211, 180}, Case{2, 1100, 500}, Case{5, 1100, 500},
        Case{14, 300, 1024}, Case{30, 520, 1024}, Case{30, 1100, 300}, Case{40, 151, 300}}) {
    for (const bool trans_a : {false, true}) {
      Case c = sizes;
      c.trans_a = trans_a;
      c.trans_b = true;
      vary(c);
      const Problem p = problem_of(type_, c);
      const Schedule schedule = make_plan(p, target_, 1, false).schedule;
      const bool is_f32_or_f64 = is_float(type_) && byte_size(type_) >= 4;
      const bool is_near = c.n * c.k * kernels_.element_bytes <= second_level_cache_bytes();
      const std::int64_t lanes = std::max<std::int64_t>(2, kernels_.lanes);
      const bool fills_halves = round_up(c.m, lanes / 2) - c.m <= (is_near ? 1 : 3);
      const std::int64_t empty = round_up(c.m, lanes) - c.m;
      const bool columns_meet = c.k * kernels_.element_bytes % kAliasBytes == 0;
      const bool fills_vectors = byte_size(type_) == 8
                                     ? !is_near || (empty <= lanes / 2 && c.m <= 4 * lanes)
                                     : empty <= lanes / 4 && (c.m <= lanes || (!is_near && !columns_meet));
      const bool fills = has_units_of_half_vectors(target_) ? fills_halves : fills_vectors;
      const bool may_swap = is_f32_or_f64 && leaves_b_to_hardware(kernels_) && !turns_quickly(p, kernels_);
      if (!kernels_.has_short_vectors) {
        EXPECT_EQ(schedule.is_swapped, may_swap && fills) << c;
      } else if (kernels_.widens() || c.k <= 128) {
        EXPECT_FALSE(schedule.is_swapped) << c;
      } else if (is_f32_or_f64 && c.k > 1000) {
        EXPECT_TRUE(schedule.is_swapped) << c;
      }
      check(c, trans_a ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Few columns and a transposed A: Y^T is computed, and its rows are stored as columns of Y, whole vectors of them and
/// what is left, with every form of C. f32 and f64 on AMD's CPUs do so where that saves enough of a vector, too.
TEST_P(GemmPaths, FewColumnsBecomeRowsOfATransposedY) {
  for (const std::int64_t m : {12, 13, 31, 32, 33, 100}) {
    for (std::int64_t n = 2; n <= 9; ++n) {
      for (const std::int64_t k : {7, 8, 15, 16, 199, 200, 531}) {
        Case c{m, n, k, true, (m + n + k) % 2 == 0};
        vary(c);
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        const bool has_lines = kernels_.has_long_vectors();
        const bool is_narrow = n <= kernels_.lanes / 2;
        if (plan.way != Way::dots && plan.way != Way::parts && plan.way != Way::tiled && has_lines && !c.trans_b) {
          const bool is_high = m >= (k < 200 ? 2 * kernels_.lanes : kernels_.mr + 1);
          const bool are_few = is_narrow && is_high && k >= (n > 5 ? 16 : 8);
          const std::int64_t saved = round_up(n, kernels_.lanes) * m - round_up(m, kernels_.lanes) * n;
          const bool saves_enough =
              m >= 2 * kernels_.lanes && k * saved >= 32 * m * n && leaves_b_to_hardware(kernels_);
          const bool is_f32_or_f64 = is_float(type_) && byte_size(type_) >= 4;
          EXPECT_EQ(plan.schedule.is_swapped, are_few || (is_f32_or_f64 && saves_enough)) << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) : 0);
      }
    }
  }
}

/// More columns of a transposed A, whose tiles are turned as squares, whole and not, of a Y with several tiles, and of
/// one whose sums wait for the next range of k.
TEST_P(GemmPaths, TurnedTilesOfATransposedA) {
  for (const Case& sizes : {Case{140, 17, 530}, Case{75, 12, 300}, Case{260, 37, 520}, Case{40, 10, 8200},
                            Case{50, 18, 100}, Case{270, 50, 140}}) {
    for (const bool trans_b : {false, true}) {
      for (int form = 0; form < 2; ++form) {
        Case c = sizes;
        c.trans_a = true;
        c.trans_b = trans_b;
        vary(c);
        check(c, form == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
}

/// A large transposed A of f32, with vectors of half a line, is passed over as it lies, as the second operand of Y^T,
/// if it meets up to 128 columns and K is long enough for what turning the sums costs. Beside panels of a constant B it
/// is packed.
TEST_P(GemmPaths, FarColumnsOfA) {
  const std::int64_t elements = last_level_cache_bytes() / kernels_.element_bytes;
  const auto rows = [elements](std::int64_t part, std::int64_t k) { return elements / part / k + 40; };
  for (const Case& sizes :
       {Case{rows(4, 200), 60, 200, true}, Case{rows(8, 300), 64, 300, true}, Case{rows(16, 530), 75, 530, true},
        Case{rows(4, 200), 129, 200, true}, Case{rows(4, 100), 60, 100, true}, Case{rows(8, 200), 60, 200, true},
        Case{rows(16, 300), 64, 300, true}, Case{rows(20, 530), 75, 530, true}}) {
    if (!has_short_floats(kernels_) || kernels_.element_bytes != 4) break;
    const bool is_far = sizes.m == rows(4, 200) || sizes.m == rows(8, 300) || sizes.m == rows(16, 530);
    const Problem p = problem_of(type_, sizes);
    EXPECT_EQ(make_plan(p, target_, 1, false).schedule.is_swapped, is_far && sizes.n <= 128) << sizes;
    if (sizes.k == 530 && is_far) {
      EXPECT_FALSE(make_plan(p, target_, 1, true).schedule.a_is_direct) << sizes;
    }
  }
  for (const std::int64_t n : {17, 75}) {
    Case c{kernels_.element_bytes == 4 ? rows(16, 530) : 101, n, 530, true, n == 17};
    vary(c);
    check(c, n == 17 ? byte_size(type_) : 0);
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

/// With vectors of half a line a transposed A is packed if much of B meets it.
TEST_P(GemmPaths, ColumnsOfAThatManyColumnsRead) {
  for (const Case& sizes : {Case{101, 300, 200, true}, Case{101, 40, 120, true}}) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    if (has_short_floats(kernels_)) {
      EXPECT_EQ(plan.way == Way::items && !plan.schedule.a_is_direct, c.n == 300) << c;
    }
    check(c, byte_size(type_));
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

/// A transposed A, read where it lies, with more k than its lines can wait for.
TEST_P(GemmPaths, LongColumnsOfA) {
  for (const bool trans_b : {false, true}) {
    Case c{41, 3 * kernels_.nr + 5, 523, true, trans_b};
    vary(c);
    if (has_short_floats(kernels_)) {
      EXPECT_LT(make_plan(problem_of(type_, c), target_, 1, false).schedule.kc, 256);
    }
    check(c, trans_b ? byte_size(type_) + 1 : 0);
  }
  check(Case{531, kernels_.nr + 1, 1003, true});
}

/// B is packed by the first tiles that read it: around tiles of rows, panels, and ranges of k.
TEST_P(GemmPaths, TilesThatPackB) {
  if (kernels_.pack_and_multiply == nullptr) return;
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
      check(c, Operands(p, 0, 1), false);
    }
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

/// One row and few, and a transposed B whose squares are turned: one group of columns and two in turns, whole and not,
/// sums in registers and others, what makes no whole square, and rows of B that share sets of the first-level cache.
TEST_P(GemmPaths, SquaresOfATransposedB) {
  const std::int64_t lanes = kernels_.lanes, page = 4096 / kernels_.element_bytes;
  for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 9}) {
    for (const std::int64_t n : {lanes, 2 * lanes - 1, 2 * lanes, 3 * lanes, 5 * lanes + 3, std::int64_t{203}}) {
      for (const std::int64_t k : {lanes, lanes + 1, 2 * lanes + 5, std::int64_t{300}, page / 2, page}) {
        Case c{m, n, k, (m + n) % 3 == 0, true};
        vary(c);
        const bool is_turned = kernels_.multiply_turned != nullptr && k >= lanes;
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        if (plan.way == Way::items && (m == 1 || turns_quickly(plan.problem, kernels_))) {
          EXPECT_EQ(plan.schedule.turns_b, is_turned) << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
}

/// The same of a K that makes no square, and one column of as few k, which become a transposed B if there are enough of
/// them: rows of B that touch and are loaded several at a time, and others; up to more rows than are turned for. 16-bit
/// floats are widened instead where A has rows enough.
TEST_P(GemmPaths, ShortKOfATransposedB) {
  const std::int64_t lanes = kernels_.lanes;
  for (std::int64_t k = 1; k < 2 * lanes; k += k < lanes ? 1 : 3) {
    for (const std::int64_t m : {1, 2, 5, 12, 13}) {
      for (const std::int64_t n : {std::int64_t{1}, lanes - 1, lanes, 3 * lanes, std::int64_t{203}}) {
        if (n == 0) continue;
        Case c{m, n, k, (m + k) % 3 == 0, true};
        vary(c);
        const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
        const bool is_long = kernels_.has_long_vectors() && is_float(type_);
        if (is_long && k < lanes && m <= 2 && n > 1 && k > 1) {
          EXPECT_TRUE(schedule.turns_b || (byte_size(type_) == 2 && schedule.widens_b)) << c;
        }
        check(c, (m + n) % 2 == 0 ? byte_size(type_) + 1 : 0);
      }
    }
    for (const std::int64_t m : {2, 31, 40, 531}) {
      Case c{m, 1, k, false, k % 2 == 0};
      vary(c);
      check(c, k % 3 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Two transposed operands, few sums and a long K: Y^T is computed where tiles become Y by vectors.
TEST_P(GemmPaths, FewSumsOfTransposedOperands) {
  for (const Case& sizes :
       {Case{11, 4, 844}, Case{13, 24, 700}, Case{40, 33, 1027}, Case{2, 3, 2600}, Case{17, 17, 300}}) {
    for (const CForm form : {CForm::none, CForm::column, CForm::full}) {
      Case c = sizes;
      c.trans_a = c.trans_b = true;
      c.c = form;
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      const bool is_f32_or_f64 = type_ == ElementType::f32 || type_ == ElementType::f64;
      if (leaves_b_to_hardware(kernels_) && is_f32_or_f64 && c.m == 40) {
        EXPECT_TRUE(schedule.is_swapped) << c;
      }
      check(c, form == CForm::full ? byte_size(type_) + 1 : 0);
    }
  }
}

/// A small transposed B is turned into rows first: around squares of lanes, also for a Y that is written a few rows at
/// a time.
TEST_P(GemmPaths, TurnedRows) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {3, 14}) {
    for (const std::int64_t n :
         {lanes - 1, lanes, lanes + 5, 3 * lanes, 4 * lanes + 1, 1024 / kernels_.element_bytes}) {
      for (const std::int64_t k : {1, 2, 15, 16, 17, 35}) {
        Case c{m, n, k, n % 2 == 0, true};
        vary(c);
        const Problem p = problem_of(type_, c);
        // What is turned is done at once, which integers with factors are not.
        const bool has_factors = c.alpha != 1.0f || (p.has_c && c.beta != 1.0f);
        const bool is_at_once = (kernels_.takes_any_columns || n % lanes == 0) && (is_float(type_) || !has_factors);
        const bool is_turned = kernels_.turn_rows != nullptr && is_at_once && !turns_quickly(p, kernels_);
        const Plan plan = make_plan(p, target_, 1, false);
        if (plan.way != Way::parts && plan.way != Way::dots) {
          EXPECT_EQ(plan.schedule.b_lane_step, is_turned && k > 1 ? k : 0) << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  check(Case{701, 12 * lanes + 9, 21, false, true});
}

/// Small products with AVX2: three rows at a time, the last of which may have been computed before, or have one more;
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
        if (k <= 5) check(Case{c.m, c.n, k, c.trans_a, false, CForm::column});
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

/// The same of a B that is long, given or kept: more than what is kept as rows else.
TEST_P(GemmPaths, FewColumnsOfALongTransposedA) {
  for (const std::int64_t m : {1, 3, 37, 150}) {
    for (const std::int64_t n : {1, 2, 3, 4, 7, 8, 9}) {
      for (const bool trans_b : {false, true}) {
        Case c{m, n, n == 1 ? 4101 : 1031, true, trans_b};
        vary(c);
        check(c, m == 37 ? byte_size(type_) + 1 : 0);
      }
    }
  }
}

/// Rows of sums become columns of Y.
TEST_P(GemmPaths, FewColumnsOfATransposedA) {
  for (const std::int64_t m : {2 * kernels_.lanes, 3 * kernels_.lanes + 5, std::int64_t{150}}) {
    for (std::int64_t n = 1; n <= 8; ++n) {
      Case c{m, n, 19, true, n % 2 == 0};
      vary(c);
      check(c, n % 3 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
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
