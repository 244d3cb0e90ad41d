// Every type on every target of this machine, against plain loops: sizes around those of tiles and blocks, transposes,
// forms of C.
#include <gtest/gtest.h>

#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmSizes = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmSizes, testing::ValuesIn(types_on_targets()), name_of);

TEST_P(GemmSizes, SizesAroundTiles) {
  const std::int64_t mr = kernels_.mr, nr = kernels_.nr, lanes = kernels_.lanes;
  for (const std::int64_t m : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, mr - 1, mr, mr + 1, 2 * mr + 1}) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{3}, lanes, lanes + 1, nr - 1, nr, 2 * nr + 1, 9 * nr}) {
      for (const std::int64_t k : {1, 2, 3, 7, 21}) {
        for (const int transposes : {0, 1, 2, 3}) {
          Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0};
          vary(c);
          check(c);
        }
      }
    }
  }
}

TEST_P(GemmSizes, Segments) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const Case& sizes : {Case{5, 10, 8192}, Case{17, 64, 12345}, Case{3, 2, 20000}, Case{40, 1, 8200},
                              Case{2, 65, 8192}, Case{30, 7, 33000}, Case{1, 70, 9000}}) {
      Case c = sizes;
      c.trans_a = (transposes & 1) != 0;
      c.trans_b = (transposes & 2) != 0;
      vary(c);
      check(c);
    }
  }
}

/// Where few rows and columns have kernels of their own: the edges of the others.
TEST_P(GemmSizes, SizesAroundPackedTiles) {
  if (kernels_.in_place == nullptr) return;
  const auto check_packed = [this](std::int64_t m, std::int64_t n, std::int64_t k) {
    const int transposes = static_cast<int>((m + n + k) % 4);
    Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0};
    vary(c);
    EXPECT_EQ(make_plan(problem_of(type_, c), target_, 1, false).kernels, &kernels_) << c;
    check(c);
  };
  // In both directions: fewer are read where they lie.
  const std::int64_t least = byte_size(type_) == 8 ? 26 : 66, of_short_k = byte_size(type_) == 8 ? 192 : 1152;
  for (std::int64_t m = least; m < least + kernels_.mr; ++m) {
    for (std::int64_t n = least; n <= least + kernels_.nr; ++n) {
      for (const std::int64_t k : {18, 19}) check_packed(m, n, k);
    }
  }
  for (const std::int64_t k : {1, 2, 3}) {
    for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, kernels_.lanes + 1}) {
      check_packed(of_short_k / k + 3, of_short_k / k + more, k);
    }
  }
}

/// Rows and columns so few, for a k, that they are read where they lie, and so many that they are packed.
TEST_P(GemmSizes, IntegersInPlace) {
  if (kernels_.in_place == nullptr) return;
  const bool are_64_bits = byte_size(type_) == 8;
  const auto is_in_place = [this](std::int64_t m, std::int64_t n, std::int64_t k) {
    return make_plan(problem_of(type_, {m, n, k}), target_, 1, false).kernels == kernels_.in_place;
  };
  EXPECT_EQ(is_in_place(10000, 16, 16), !are_64_bits);
  EXPECT_EQ(is_in_place(10000, 20, 4), true);
  EXPECT_EQ(is_in_place(10000, 90, 4), !are_64_bits);
  EXPECT_FALSE(is_in_place(10000, 150, 4));
  EXPECT_EQ(is_in_place(30, 10000, 8), !are_64_bits);
  EXPECT_FALSE(is_in_place(30, 10000, 16));
  // The last: A and Y leave the near caches, and low tiles at the end are as wide as two panels of B.
  for (const Case& sizes :
       {Case{301, 16, 16}, Case{301, 90, 4, true}, Case{201, 20, 4, false, true}, Case{16, 900, 8},
        Case{3004, 64, 9, false, true}, Case{3005, 56, 9, false, true}, Case{3006, 60, 9, true, true}}) {
    Case c = sizes;
    vary(c);
    check(c, byte_size(type_) + 1);
  }
}

TEST_P(GemmSizes, SizesAroundBlocks) {
  const std::int64_t mr = kernels_.mr, nr = kernels_.nr, kc = kernels_.kc;
  for (const int transposes : {0, 1, 2, 3}) {
    const bool trans_a = (transposes & 1) != 0;
    const bool trans_b = (transposes & 2) != 0;
    for (const std::int64_t k : {kc - 1, kc, kc + 1, 2 * kc + 3}) {
      for (const std::int64_t m : {std::int64_t{1}, 3 * mr + 1}) {
        for (const std::int64_t n : {std::int64_t{2}, 2 * nr + 3}) {
          Case c{m, n, k, trans_a, trans_b};
          vary(c);
          check(c);
        }
      }
    }
    Case many_rows{700, nr + 5, 200, trans_a, trans_b};
    vary(many_rows);
    check(many_rows);
    Case more_than_a_few_rows{5 * mr + 1, 2 * nr + 3, kc + 1, trans_a, trans_b};
    vary(more_than_a_few_rows);
    check(more_than_a_few_rows);
    Case many_columns{5, 700, 30, trans_a, trans_b};
    vary(many_columns);
    check(many_columns);
    Case few_columns{300, 2, 40, trans_a, trans_b};
    vary(few_columns);
    check(few_columns);
  }
}

/// Every height of rows, and columns that are one to five vectors, the last of them whole or not.
TEST_P(GemmSizes, SmallProducts) {
  const std::int64_t lanes = kernels_.lanes;
  std::size_t at_once = 0;
  for (std::int64_t m = 1; m <= 4 * kernels_.mr + 3; ++m) {
    for (const std::int64_t n : {lanes - 1, lanes, 2 * lanes, 3 * lanes - 2, 3 * lanes, 4 * lanes, 5 * lanes - 1}) {
      Case c{m, std::max<std::int64_t>(n, 1), 5, m % 3 == 0, false};
      vary(c);
      if (is_at_once(make_plan(problem_of(type_, c), target_, 1, false).way)) ++at_once;
      check(c);
    }
  }
  if (is_float(type_) && kernels_.multiply_at_once != nullptr) {
    EXPECT_GT(at_once, static_cast<std::size_t>(8 * kernels_.mr));
  }
}

/// More than one vector of columns, up to three, and a short K: many tiles in one call, some of whose rows and columns
/// may be computed twice. With each C as it is, and others.
TEST_P(GemmSizes, ColumnsOfTwoVectorsOrThree) {
  const std::int64_t lanes = kernels_.lanes;
  std::size_t forms = 0;
  for (const std::int64_t m : {4, 7, 8, 9, 11, 12, 13, 14, 16, 17, 29, 49, 100}) {
    for (const std::int64_t n : {lanes + 1, 2 * lanes - 1, 2 * lanes, 2 * lanes + 1, 3 * lanes - 1, 3 * lanes}) {
      for (const std::int64_t k : {1, 4, 5, 16, 64, 65}) {
        constexpr CForm kForms[] = {CForm::none, CForm::row, CForm::column, CForm::full, CForm::scalar};
        const int transposes = static_cast<int>(m + n + k) % 4;
        Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0, kForms[forms++ % std::size(kForms)]};
        check(c, k == 5 ? byte_size(type_) : 0);
        vary(c);
        check(c);
      }
    }
  }
}

/// Rows that are no whole vectors, with a C for each row or each column: some of them may be finished together.
TEST_P(GemmSizes, ShortRowsWithC) {
  for (const std::int64_t m : {7, 8, 9, 41, 130}) {
    for (const std::int64_t n : {2, 3, 5, 8, 9, 13, 31, 63, 65}) {
      for (const CForm form : {CForm::row, CForm::column}) {
        check(Case{m, n, 5, false, false, form});
        if (is_float(type_)) check(Case{m, n, 3, false, n % 2 != 0, form, 0.5f, 2.0f}, byte_size(type_) + 1);
      }
    }
  }
}

/// 16-bit floats for which all of B is widened first: around blocks of rows, strips of columns and vectors.
TEST_P(GemmSizes, SmallBWidenedAtOnce) {
  const std::int64_t lanes = kernels_.lanes;
  std::size_t widened = 0, products = 0;
  for (const std::int64_t m : {49, 61, 100, 203}) {
    for (const std::int64_t n : {lanes - 1, lanes, 3 * lanes + 1, 4 * lanes, 4 * lanes + 1, 7 * lanes - 3, 9 * lanes}) {
      const std::int64_t columns = std::max<std::int64_t>(n, 1), enough_work = std::int64_t{1} << 17;
      Case c{m, columns, std::min<std::int64_t>(enough_work / (m * columns) + 1, 500), products % 2 != 0, false};
      vary(c);
      const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
      if (is_at_once(plan.way) && plan.schedule.widens_b) ++widened;
      ++products;
      check(c, products % 3 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
  const bool takes_tiled = kernels_.tiled != nullptr;
  if (kernels_.widen_lines != nullptr && kernels_.multiply_at_once != nullptr && !takes_tiled) {
    EXPECT_GT(widened, products / 2);
  }
  for (const std::int64_t m :
       {std::int64_t{1}, std::int64_t{3}, kernels_.mr, kernels_.mr + 1, 2 * kernels_.mr}) {  // few rows, a short k
    for (const std::int64_t n : {15 * lanes, 31 * lanes + 1}) {
      for (const std::int64_t k : {3, 8, 24, 64}) {
        Case c{m, n, k};
        vary(c);
        check(c);
      }
    }
  }
  // Many rows of few columns, which touch as sums, too; of a transposed B as well, if it is small beside A.
  for (const std::int64_t n :
       {std::int64_t{2}, std::int64_t{7}, lanes + 3, 2 * lanes + 1, 4 * lanes - 1, 4 * lanes + 5}) {
    for (const std::int64_t k : {1, 5, 8, 9, 16, 17}) {
      Case c{(std::int64_t{1} << 17) / (n * k) + 520, n, k, false, true};
      vary(c);
      const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
      if (kernels_.widen_lines != nullptr && kernels_.has_long_vectors() && !takes_tiled && plan.way != Way::dots) {
        EXPECT_TRUE(plan.schedule.widens_b) << c;
      }
      check(c);
      c.trans_b = false;
      for (const CForm form : {CForm::full, CForm::row, CForm::column}) {
        c.c = form;
        check(c, byte_size(type_));
      }
    }
  }
  // Few rows and a transposed B, from where it is small beside A to where it is not, with the last strips narrow and
  // wide.
  for (const std::int64_t m : {1, 2, 5, 12, 13, 31}) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{3}, lanes, lanes + 1, 4 * lanes + 2}) {
      for (const std::int64_t k : {2, 7, 24}) {
        Case c{m, n, k, m % 2 != 0, true};
        vary(c);
        check(c, n % 2 == 0 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  // From so many rows for it on, lines of B are turned as squares, whole ones and others, for all rows.
  for (const std::int64_t m : {4, 7, 25}) {
    for (const std::int64_t n : {lanes - 1, lanes + 3, 5 * lanes + 1}) {
      for (const std::int64_t k : {24, 31, 70}) {
        Case c{m, std::max<std::int64_t>(n, 1), k, m == 7, true};
        vary(c);
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        const bool are_enough = c.n * round_up(k, lanes) <= 768 * m;
        if (type_ == ElementType::f16 && kernels_.has_long_vectors()) {
          EXPECT_EQ(plan.schedule.widens_b, are_enough) << c;
        }
        check(c, n % 2 == 0 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  // Both operands turned, and so many rows that each worker has several items.
  check(Case{1100, 3 * lanes + 5, 35, false, true, CForm::column});
  check(Case{2077, 2 * lanes, 19, true, true}, byte_size(type_));
}

}  // namespace
}  // namespace binet::kernels::gemm
