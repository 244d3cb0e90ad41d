// Every type on every target of this machine, against plain loops: products of few columns, or with a few more than
// whole vectors, as dot products.
#include <gtest/gtest.h>

#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmDots = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmDots, testing::ValuesIn(types_on_targets()), name_of);

/// Around their shortest K, the number of their partial sums, and the rows that go together.
TEST_P(GemmDots, FewColumns) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const std::int64_t k : {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 200}) {
      for (const std::int64_t n : {1, 2, 3, 4, 5}) {
        for (const std::int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 37}) {
          Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0};
          vary(c);
          check(c);
        }
      }
    }
  }
  check(Case{3000, 1, 40, false, false, CForm::row});
  check(Case{1100, 3, 64, false, true, CForm::full, 2, 0.5f});
  for (const std::int64_t k : {900, 2300}) check(Case{7, 4, k, false, false, CForm::row});  // columns fill L1
}

/// So many rows that they are several runs, with a C for each row or each column.
TEST_P(GemmDots, ManyRowsWithC) {
  for (std::int64_t n = 2; n <= 7; ++n) {
    for (const CForm form : {CForm::row, CForm::column}) {
      check(Case{300, n, 70, false, false, form});
      check(Case{131, n, 33, false, true, form}, byte_size(type_) + 1);
    }
  }
}

/// One column, or one row, and a K of few vectors.
TEST_P(GemmDots, OneColumnOrRow) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const std::int64_t k : {1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 30, 32, 33, 40, 45, 50, 56, 63, 64, 65}) {
      for (const std::int64_t length : {2, 5, 6, 7, 8, 15, 16, 17, 100, 333}) {
        Case column{length, 1, k, (transposes & 1) != 0, (transposes & 2) != 0};
        vary(column);
        check(column);
        Case row{1, length, k, (transposes & 1) != 0, (transposes & 2) != 0};
        vary(row);
        check(row);
      }
    }
  }
}

/// A few rows and a transposed B, which are the columns of Y^T if they are of integers and K is long for them: K around
/// that, every form of C, more columns than one run, segments of K.
TEST_P(GemmDots, FewRowsOfATransposedB) {
  const bool is_64_bits = byte_size(type_) == 8;
  for (const std::int64_t m : {2, 3, 4, 5}) {
    const std::int64_t least_k = m * (is_64_bits ? 256 : 64);
    for (const std::int64_t k : {least_k - 1, least_k, least_k + 3}) {
      for (const std::int64_t n : {5, 16, 37}) {
        Case c{m, n, k, (m + n) % 2 == 0, true};
        vary(c);
        const Way way = make_plan(problem_of(type_, c), target_, 1, false).way;
        if (kernels_.has_short_vectors && is_integer(type_)) {
          EXPECT_EQ(way == Way::dots, m <= (is_64_bits ? 2 : 4) && k >= least_k) << c;
        }
        check(c, n == 37 ? byte_size(type_) + 1 : 0);
      }
    }
  }
  for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
    check(Case{2, 1030, 513, form == CForm::row, true, form, 2, 3});
    check(Case{3, 11, 8200, false, true, form});
  }
}

/// The last columns are computed apart, for some rows after the others: around those rows, and where they begin and
/// end.
TEST_P(GemmDots, LastColumnsApart) {
  const auto lanes = static_cast<std::int64_t>(64 / byte_size(type_));
  const bool may_be_apart = is_float(type_) && byte_size(type_) >= 4;
  for (const Case& sizes : {Case{1, 17, 32},
                            Case{5, 33, 33, false, true},
                            Case{29, 65, 70},
                            Case{97, 129, 131},
                            Case{13, 145, 64},
                            Case{210, 17, 700},
                            Case{49, 33, 1400, false, true},
                            Case{48, 49, 1300},
                            Case{50, 9, 300},
                            Case{7, 17, 31},
                            Case{30, 33, 50, true},
                            Case{3, 17, 8300},
                            Case{1, 18, 40},
                            Case{2, 10, 512},
                            Case{61, 10, 513},
                            Case{11, 19, 90, false, true},
                            Case{97, 20, 64},
                            Case{49, 66, 100},
                            Case{8, 34, 200},
                            Case{9, 82, 100},
                            Case{100, 36, 1500},
                            Case{30, 26, 31},
                            Case{6, 21, 100},
                            Case{6, 11, 100}}) {
    for (int form = 0; form < 3; ++form) {
      Case c = sizes;
      vary(c);
      const Problem p = problem_of(type_, c);
      const std::int64_t columns = c.n % lanes, vectors = c.n / lanes;
      const bool is_a_few_more =
          columns > 0 && columns <= lanes / 4 && vectors > 0 && vectors <= (columns == 1 ? 8 : 4);
      const bool is_apart = may_be_apart && is_a_few_more && c.k >= 32 && c.k < 8192 && !c.trans_a;
      EXPECT_EQ(make_plan(p, target_, 1, false).way == Way::parts, is_apart) << c;
      check(c, c.m % 2 == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
