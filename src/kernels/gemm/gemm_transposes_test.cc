// Every type on every target of this machine, against plain loops: the ways that transposed
// operands take: read where they lie, turned, packed, or as those of Y^T.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cache_size.h"
#include "kernels/gemm/dots.h"
#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/plan/near_b.h"
#include "kernels/gemm/plan/turned_b.h"
#include "kernels/gemm/plan/turned_rows.h"
#include "kernels/gemm/portions.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmTransposes = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmTransposes, testing::ValuesIn(types_on_targets()), name_of);

/// Rows of Y that fill vectors, or halves of them where units are half a vector wide, and a transposed B: f32 and f64
/// compute Y^T where hardware prefetchers follow B, unless squares of it are turned as quickly. With vectors of half a
/// line it is a matter of K, for integers, too.
TEST_P(GemmTransposes, TransposedBOfFewRows) {
  for (const Case& sizes :
       {Case{5, 203, 331}, Case{8, 331, 128}, Case{16, 75, 1030}, Case{23, 400, 200}, Case{56, 151, 300},
        Case{2, 500, 145}, Case{3, 130, 700}, Case{12, 211, 180}, Case{2, 1100, 500}, Case{5, 1100, 500},
        Case{14, 300, 1024}, Case{30, 520, 1024}, Case{30, 1100, 300}, Case{40, 151, 300}, Case{8, 700, 60}}) {
    for (const bool trans_a : {false, true}) {
      Case c = sizes;
      c.trans_a = trans_a;
      c.trans_b = true;
      vary(c);
      const Problem p = problem_of(type_, c);
      const Plan plan = make_plan(p, target_, 1, false);
      const Schedule& schedule = plan.schedule;
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
      const bool has_long_k = c.k >= 128;
      const bool is_turned_sooner = leaves_b_to_hardware(kernels_) && turns_quickly(p, kernels_);
      const bool may_swap = is_f32_or_f64 && has_long_k && kernels_.has_long_vectors() && !is_turned_sooner;
      if (!kernels_.has_short_vectors) {
        // On matrix registers a transposed B lies right for Y^T.
        const bool is_on_registers = has_amx(target_) && plan.way == Way::tiled;
        EXPECT_EQ(schedule.is_swapped, is_on_registers ? c.m <= 16 : may_swap && fills) << c;
      } else if (!has_long_k || (kernels_.widens() && !trans_a)) {
        EXPECT_FALSE(schedule.is_swapped) << c;
      } else if (c.k > 1000 && (is_f32_or_f64 || (kernels_.widens() && c.m >= 16))) {
        EXPECT_TRUE(schedule.is_swapped) << c;
      }
      check(c, trans_a ? byte_size(type_) + 1 : 0);
    }
  }
}

/// Few columns and a transposed A: Y^T is computed, and its rows are stored as columns of Y, whole vectors of them and
/// what is left, with every form of C. f32 and f64 do so where that saves enough of a vector, too; on Intel's CPUs not
/// where A is small, and a few vectors of its rows are not all whole.
TEST_P(GemmTransposes, FewColumnsBecomeRowsOfATransposedY) {
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
          const bool saves_enough = m >= 2 * kernels_.lanes && k * saved >= 32 * m * n && has_lines;
          const bool is_f32_or_f64 = is_float(type_) && byte_size(type_) >= 4;
          const bool has_last_rows = is_narrow && m % kernels_.lanes != 0 && m < 4 * kernels_.lanes;
          const std::int64_t least_for_column = n <= 4 ? 420 : n >= 7 && m > 3 * kernels_.lanes ? 800 : 110;
          const bool is_small = is_f32_or_f64 && has_last_rows && m * k < least_for_column * n;
          EXPECT_EQ(plan.schedule.is_swapped,
                    (are_few || (is_f32_or_f64 && saves_enough)) && !(is_intel_with_avx512() && is_small))
              << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) : 0);
      }
    }
  }
}

/// Rows of sums become columns of Y.
TEST_P(GemmTransposes, FewColumnsOfATransposedA) {
  for (const std::int64_t m : {2 * kernels_.lanes, 3 * kernels_.lanes + 5, std::int64_t{150}}) {
    for (std::int64_t n = 1; n <= 8; ++n) {
      Case c{m, n, 19, true, n % 2 == 0};
      vary(c);
      check(c, n % 3 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

/// The same with a long K, of which more of a constant B is kept in rows than else.
TEST_P(GemmTransposes, FewColumnsOfALongTransposedA) {
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

/// More columns of a transposed A, whose tiles are turned as squares, whole and not, of a Y with several tiles, and of
/// one whose sums wait for the next range of k.
TEST_P(GemmTransposes, TurnedTilesOfATransposedA) {
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
TEST_P(GemmTransposes, FarColumnsOfA) {
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

/// With vectors of half a line a transposed A is packed if much of B meets it.
TEST_P(GemmTransposes, ColumnsOfAThatManyColumnsRead) {
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

/// With vectors of whole lines, on Intel's CPUs: if it fills half of the second-level cache, or is read often.
TEST_P(GemmTransposes, LargeColumnsOfA) {
  const std::int64_t size = kernels_.element_bytes, half = second_level_cache_bytes() / 2;
  struct {
    Case sizes;
    bool is_packed;
  } const cases[] = {{{half / size / 500 + 1, 41, 500, true}, true},
                     {{half / size / 500 + 1, 27, 500, true}, false},
                     {{500 / size, 1000, 500, true}, true},
                     {{500 / size, 100, 500, true, true}, false}};
  for (const auto& [sizes, is_packed] : cases) {
    Case c = sizes;
    vary(c);
    const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
    if (kernels_.has_long_vectors() && is_intel_with_avx512() && is_float(type_) && size >= 4) {
      EXPECT_TRUE(plan.way == Way::items && plan.schedule.a_is_direct != is_packed) << c;
    }
    check(c, byte_size(type_));
  }
}

/// A transposed A, read where it lies, with more k than its lines can wait for.
TEST_P(GemmTransposes, LongColumnsOfA) {
  for (const bool trans_b : {false, true}) {
    Case c{41, 3 * kernels_.nr + 5, 523, true, trans_b};
    vary(c);
    const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
    if (has_short_floats(kernels_) && trans_b) {
      EXPECT_TRUE(schedule.is_swapped);
    } else if (has_short_floats(kernels_)) {
      EXPECT_LT(schedule.kc, 256);
    }
    check(c, trans_b ? byte_size(type_) + 1 : 0);
  }
  check(Case{531, kernels_.nr + 1, 1003, true});
}

/// Both operands are transposed: Y^T of few and of more rows and columns, of which the last ones fill no tile, with
/// every form of C. What decides is compared for vectors of half a line.
TEST_P(GemmTransposes, BothOperandsAsThoseOfATransposedY) {
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{5, 5}, {8, 30}, {16, 12}, {33, 7}, {61, 45}}) {
    for (const std::int64_t k : {30, 257, 1200}) {
      Case c{m, n, k, true, true};
      vary(c);
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      if (kernels_.has_short_vectors && k < 100 && n > 5) {
        EXPECT_FALSE(schedule.is_swapped) << c;
      } else if (kernels_.has_short_vectors && k > 1000 && m >= 16) {
        EXPECT_TRUE(schedule.is_swapped) << c;
      }
      check(c, byte_size(type_) + 1);
    }
  }
}

/// One row and few, and a transposed B whose squares are turned: one group of columns and two in turns, whole and not,
/// sums in registers and others, what makes no whole square, and rows of B that share sets of the first-level cache.
TEST_P(GemmTransposes, SquaresOfATransposedB) {
  const std::int64_t lanes = kernels_.lanes, page = 4096 / kernels_.element_bytes;
  for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 9}) {
    for (const std::int64_t n : {lanes, 2 * lanes - 1, 2 * lanes, 3 * lanes, 5 * lanes + 3, std::int64_t{203}}) {
      for (const std::int64_t k : {lanes, lanes + 1, 2 * lanes + 5, std::int64_t{300}, page / 2, page}) {
        Case c{m, n, k, (m + n) % 3 == 0, true};
        vary(c);
        const bool is_turned = kernels_.multiply_turned != nullptr && k >= lanes;
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        const bool is_swapped_sooner = !leaves_b_to_hardware(kernels_) && plan.schedule.is_swapped;
        if (plan.way == Way::items && !is_swapped_sooner && (m == 1 || turns_quickly(plan.problem, kernels_))) {
          EXPECT_EQ(plan.schedule.turns_b, is_turned) << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
}

/// Rows of a transposed B that meet in the sets of a cache, exactly or nearly: two groups of columns at different k,
/// for rows of A that are copied, too long for that, or not read along k; columns that are left over, ranges of k of
/// which a half is whole pages and others, segments.
TEST_P(GemmTransposes, RowsOfATransposedBThatMeet) {
  const std::int64_t lanes = kernels_.lanes, page = 4096 / kernels_.element_bytes;
  for (const std::int64_t k : {page - 1, page, page + 3, 2 * page, 3 * page, 3 * page + 1}) {
    for (const std::int64_t m : {1, 2, 3, 4, 5}) {
      for (const std::int64_t n : {2 * lanes - 1, 2 * lanes, 5 * lanes + 3}) {
        Case c{m, n, k, (m + n + k) % 5 == 0, true};
        vary(c);
        check(c, (m + k) % 2 == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  for (const Case& c : {Case{1, 70, 6 * page, false, true}, Case{2, 70, 5 * page + 1, false, true},
                        Case{2, 70, page + 1, true, true}, Case{3, 203, 2 * page, true, true},
                        Case{4, 203, 700, true, true}, Case{2, 203, 300, true, true}, Case{3, 50, 2100, true, true},
                        Case{1, 3 * lanes, 8192, false, true}, Case{2, 2 * lanes, 9 * 1024, false, true}}) {
    check(c, byte_size(type_) + 1);
  }
}

/// The same of a K that makes no square, and one column of as few k, which become a transposed B if there are enough of
/// them: rows of B that touch and are loaded several at a time, and others; up to more rows than are turned for. 16-bit
/// floats are widened instead where A has rows enough.
TEST_P(GemmTransposes, ShortKOfATransposedB) {
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
TEST_P(GemmTransposes, FewSumsOfTransposedOperands) {
  for (const Case& sizes :
       {Case{11, 4, 844}, Case{13, 24, 700}, Case{40, 33, 1027}, Case{2, 3, 2600}, Case{17, 17, 300}}) {
    for (const CForm form : {CForm::none, CForm::column, CForm::full}) {
      Case c = sizes;
      c.trans_a = c.trans_b = true;
      c.c = form;
      const Schedule schedule = make_plan(problem_of(type_, c), target_, 1, false).schedule;
      const bool is_f32_or_f64 = type_ == ElementType::f32 || type_ == ElementType::f64;
      if (kernels_.has_long_vectors() && is_f32_or_f64 && c.m == 40) {
        EXPECT_TRUE(schedule.is_swapped) << c;
      }
      check(c, form == CForm::full ? byte_size(type_) + 1 : 0);
    }
  }
}

/// A small transposed B is turned into rows first: around squares of lanes, also for a Y that is written a few rows at
/// a time.
TEST_P(GemmTransposes, TurnedRows) {
  const std::int64_t lanes = kernels_.lanes;
  for (const std::int64_t m : {3, 14}) {
    for (const std::int64_t n :
         {lanes - 1, lanes, lanes + 5, 3 * lanes, 4 * lanes + 1, 1024 / kernels_.element_bytes}) {
      for (const std::int64_t k : {1, 2, 15, 16, 17, 35}) {
        Case c{m, n, k, n % 2 == 0, true};
        vary(c);
        const Problem p = problem_of(type_, c);
        const bool is_at_once = kernels_.takes_any_columns || n % lanes == 0;  // as what is turned is
        const bool is_turned = may_turn_rows(p, kernels_) && is_at_once &&
                               (kernels_.in_place == nullptr || !repays_packing_both(with_turned_rows(p, kernels_)));
        const Plan plan = make_plan(p, target_, 1, false);
        if (plan.way != Way::parts && plan.way != Way::dots) {
          EXPECT_EQ(plan.schedule.b_lane_step, is_turned && k > 1 ? k : 0) << c;
        }
        check(c, k % 2 == 1 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  // Many rows, and as many columns as wide tiles have; with a C of one element, and for two threads.
  const ThreadPool two(2);
  for (const Case& c :
       {Case{3000, 4 * lanes, 25, true, true}, Case{2203, 4 * lanes - 2, 40, false, true, CForm::scalar},
        Case{2500, 4 * lanes - 3, 70, true, true, CForm::full, -2, 0.5f}}) {
    const Problem p = problem_of(type_, c);
    const Plan plan = make_plan(p, target_, 1, false);
    if (kernels_.wide_rows > 0) {
      EXPECT_EQ(plan.schedule.b_lane_step, c.k) << c;
      // So short a K goes by blocks of rows on AMD's CPUs.
      const bool goes_by_blocks = leaves_b_to_hardware(kernels_) && plan.schedule.block_rows > 0;
      EXPECT_EQ(plan.way, goes_by_blocks ? Way::rows_at_once : Way::items) << c;
    }
    const Operands operands(p, 0, 1);
    check(c, operands);
    EXPECT_EQ(difference(type_, compute(p, operands, target_, two).data(), expected(p, operands).data(), p.m * p.n), "")
        << c;
  }
  check(Case{701, 12 * lanes + 9, 21, false, true});
  // Integers for few rows, and small products of them, where they might be packed.
  for (const Case& c : {Case{12, 60, 40, false, true}, Case{60, 11, 30, true, true}, Case{30, 60, 40, false, true}}) {
    if (kernels_.in_place != nullptr && is_intel_with_avx512()) {
      EXPECT_EQ(make_plan(problem_of(type_, c), target_, 1, false).schedule.b_lane_step, c.m == 30 ? 0 : c.k) << c;
    }
    check(c, byte_size(type_));
  }
  // More of it for more rows, two rows of some k, and a long k of low tiles.
  for (const Case& c : {Case{7, 1203, 37, false, true}, Case{2, 203, 19, false, true}, Case{8, 61, 199, false, true}}) {
    if (has_short_floats(kernels_) && kernels_.element_bytes == 4) {
      EXPECT_EQ(make_plan(problem_of(type_, c), target_, 1, false).schedule.b_lane_step, c.m == 8 ? 0 : c.k) << c;
    }
    check(c, byte_size(type_) + 1);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
