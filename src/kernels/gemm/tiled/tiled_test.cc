// Products in tiles, on matrix registers or on vectors, against plain loops: sizes around tiles, panels, ranges of k
// and items; and numbers so small that the registers would take them for zero.
#include "kernels/gemm/tiled/tiled.h"

#include <gtest/gtest.h>

#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

std::vector<TypeOnTarget> types_in_tiles() {
  std::vector<TypeOnTarget> all = types_on_targets();
  std::erase_if(all,
                [](const TypeOnTarget& tested) { return find_kernels(tested.type, tested.target)->tiled == nullptr; });
  return all;
}

using Tiled = TypeOnTargetTest;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Tiled);  // most CPUs have no such registers

INSTANTIATE_TEST_SUITE_P(AllTypes, Tiled, testing::ValuesIn(types_in_tiles()), name_of);

Case transposed(Case c, int transposes) {
  c.trans_a = (transposes & 1) != 0;
  c.trans_b = (transposes & 2) != 0;
  return c;
}

TEST_P(Tiled, AreTakenByNAndKAlone) {
  const TiledKernels& tiled = *kernels_.tiled;
  if (tiled.are_vectors) return;  // whose order is that of all other ways
  for (const std::int64_t m : {1, 2, 100}) {
    EXPECT_TRUE(takes_tiled(problem_of(type_, {m, tiled.least_n, tiled.least_k}), kernels_, true));
    EXPECT_FALSE(takes_tiled(problem_of(type_, {m, tiled.least_n - 1, tiled.least_k}), kernels_, true));
    EXPECT_FALSE(takes_tiled(problem_of(type_, {m, tiled.least_n, tiled.least_k - 1}), kernels_, true));
    // The order of additions is the registers' own: all M must have it. Of integers it does not matter.
    if (is_float(type_)) {
      EXPECT_TRUE(takes_tiled(problem_of(type_, {m, tiled.least_n, tiled.least_k}), kernels_, false));
    }
  }
}

/// On vectors: a B that is kept, whose form must not depend on M, and one for which there are rows and products enough.
TEST_P(Tiled, OfVectorsAreTakenWhereTheyRepayPacking) {
  const TiledKernels& tiled = *kernels_.tiled;
  if (!tiled.are_vectors) return;
  for (const std::int64_t m : {1, 100}) {
    EXPECT_TRUE(takes_tiled(problem_of(type_, {m, 32, tiled.least_kept_b / 32}), kernels_, true));
    EXPECT_FALSE(takes_tiled(problem_of(type_, {m, 32, tiled.least_kept_b / 32 - 1}), kernels_, true));
  }
  for (const bool trans_b : {false, true}) {
    const std::int64_t least_m = (trans_b ? tiled.least_a_to_turn_b : tiled.least_a_to_pack_b).rows;
    EXPECT_TRUE(takes_tiled(problem_of(type_, {least_m, 100, 100, false, trans_b}), kernels_, false));
    const std::int64_t columns = trans_b ? 100 : tiled.least_columns_unpacked - 1;
    EXPECT_FALSE(takes_tiled(problem_of(type_, {least_m - 1, columns, 400, false, trans_b}), kernels_, false));
  }
  EXPECT_FALSE(takes_tiled(problem_of(type_, {20, 20, tiled.least_products / 400 - 1}), kernels_, false));
  EXPECT_TRUE(takes_tiled(problem_of(type_, {20, 20, tiled.least_products / 400}), kernels_, false));
}

/// On matrix registers: integers of a B that nobody packed, by rows and K.
TEST_P(Tiled, OfIntegersAreTakenByWhatRepaysPacking) {
  if (is_float(type_)) return;
  const auto takes = [&](const Case& c) { return takes_tiled(problem_of(type_, c), kernels_, false); };
  const bool are_long = byte_size(type_) == 8;
  for (const bool trans_b : {false, true}) {
    EXPECT_TRUE(takes({28, 100, 100, false, trans_b}));
    EXPECT_EQ(takes({24, 100, 100, false, trans_b}), trans_b || are_long);
    EXPECT_EQ(takes({27, 100, 100, false, trans_b}), trans_b || are_long);
    EXPECT_FALSE(takes({7, 1000, 1000, false, trans_b}));
    EXPECT_FALSE(takes({23, 100, 60, false, trans_b}));
    EXPECT_EQ(takes({11, 300, 200, false, trans_b}), trans_b);
    EXPECT_EQ(takes({12, 300, 200, false, trans_b}), trans_b || are_long);
    EXPECT_EQ(takes({10, 300, 120, false, trans_b}), trans_b && are_long);
    EXPECT_FALSE(takes({23, 300, 135, false, trans_b}));  // fills three groups of 64
  }
  for (const bool trans_a : {false, true}) {
    EXPECT_TRUE(takes({28, 9, 100, trans_a}));
    EXPECT_EQ(takes({28, 8, 100, trans_a}), !trans_a && !are_long);
    EXPECT_FALSE(takes({28, 7, 100, trans_a}));
  }
}

TEST_P(Tiled, SizesAroundTiles) {
  const std::int64_t group = kernels_.tiled->k_group;
  for (const std::int64_t m : {1, 3, 4, 6, 7, 11, 12, 13, 15, 16, 17, 31, 32, 33, 49}) {
    for (const std::int64_t n : {8, 15, 16, 17, 31, 32, 33, 48, 49, 63, 65, 81}) {
      for (const std::int64_t k : {group - 1, group, group + 1, 2 * group, 3 * group + 7}) {
        Case c = transposed({m, n, k}, static_cast<int>((m + n + k) % 4));
        vary(c);
        check(c);
      }
    }
  }
}

/// B as it lies: groups of its rows, one of an odd number of them, and last columns that are computed with others.
TEST_P(Tiled, FewRowsOfAGivenB) {
  const TiledKernels& tiled = *kernels_.tiled;
  if (!tiled.are_vectors) return;
  for (std::int64_t m = tiled.least_rows_unpacked; m <= tiled.most_rows_unpacked; ++m) {
    for (const std::int64_t n : {32, 33, 63, 64, 65, 95, 97, 128, 160, 1030}) {
      for (const std::int64_t k : {255, 256, 257, 290, 513}) {
        Case c{m, n, k, (m + n + k) % 2 != 0};
        vary(c);
        const Plan plan = make_plan(problem_of(type_, c), target_, 1, false);
        EXPECT_TRUE(plan.way == Way::tiled && plan.schedule.has_few_rows) << c;
        check(c, k % 2 == 0 ? 0 : 1 + byte_size(type_));
      }
    }
  }
}

/// Ranges of k whose sums wait, strips of columns, B packed as a whole, A that lies in whole groups or not.
TEST_P(Tiled, SizesAroundBlocks) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const Case& sizes :
         {Case{70, 70, 1300}, Case{5, 600, 700}, Case{20, 530, 650}, Case{40, 290, 672}, Case{700, 40, 704},
          Case{33, 1040, 96}, Case{9, 100, 1100}, Case{300, 20, 16}, Case{500, 15, 40}, Case{77, 90, 47},
          Case{1, 4200, 64}, Case{3, 5000, 50}, Case{1000, 17, 64}}) {
      Case c = transposed(sizes, transposes);
      vary(c);
      check(c);
    }
  }
}

/// Few rows meet two panels at a time, of which the last is one tile wide: it begins elsewhere for a later segment of
/// k.
TEST_P(Tiled, NarrowPanelsOfSegments) {
  for (const std::int64_t m : {1, 2, 4, 5}) {
    for (const std::int64_t n : {33, 40, 48, 49}) {
      for (const std::int64_t k : {8192, 9000}) {
        Case c{m, n, k, false, (n + m) % 2 == 0};
        vary(c);
        check(c);
      }
    }
  }
}

TEST_P(Tiled, AnyAlignment) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const Case& sizes : {Case{1, 50, 70}, Case{20, 50, 64}, Case{40, 70, 100}}) {
      check(transposed(sizes, transposes), 1 + byte_size(type_));
    }
  }
}

TEST_P(Tiled, ThreadsDoNotMatter) {
  const ThreadPool pools[] = {ThreadPool(2), ThreadPool(3), ThreadPool(8)};
  for (const Case& c : {Case{300, 200, 400}, Case{3, 900, 2000}, Case{12, 2000, 900, false, true}, Case{5, 97, 900},
                        Case{8, 300, 300}, Case{12, 129, 900}, Case{40, 60, 33000, false, false, CForm::row, 2, 3}}) {
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 1);
    for (const bool pack : {false, true}) {
      const Bytes want = compute(p, operands, target_, one_thread_, pack);
      for (const ThreadPool& pool : pools) {
        const Bytes got = compute(p, operands, target_, pool, pack);
        EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " packed " << pack;
      }
    }
  }
}

/// A bfloat16 of either sign with random fraction, 2^exponent to 2^(exponent + 1); subnormal below -126.
BFloat16 number_near(int exponent, std::mt19937_64& random) {
  const double fraction = 1.0 + static_cast<double>(random() % 128) / 128.0;
  return BFloat16::from_double(std::ldexp(random() % 2 == 0 ? fraction : -fraction, exponent));
}

void fill_near(const Bytes& bytes, int exponent, std::mt19937_64& random) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes.size() / sizeof(BFloat16)); ++i) {
    put(bytes, i, number_near(exponent, random));
  }
}

/// Operands around the smallest exponents for which no product and no sum of products can be subnormal: on one side the
/// registers compute, on the other vectors do, and of both the bits must be those of IEEE 754. Signs vary, so that sums
/// cancel.
TEST_P(Tiled, TinyProductsAreNotTakenForZero) {
  if (type_ != ElementType::bf16) return;
  std::mt19937_64 random(11);
  for (const int exponent_a : {-56, -125, -126, -127, -133, 10}) {
    for (int sum = -118; sum <= -108; ++sum) {
      const int exponent_b = sum - exponent_a;
      for (const int transposes : {0, 1, 2, 3}) {
        for (const Case& sizes : {Case{40, 36, 70}, Case{5, 67, 70}, Case{9, 70, 35}}) {
          const Case c = transposed(sizes, transposes);
          const Operands operands(problem_of(type_, c), 0, 1);
          fill_near(operands.a, exponent_a, random);
          fill_near(operands.b, exponent_b, random);
          check(c, operands);
        }
      }
    }
  }
}

/// One number among many decides for its panel, wherever it is; rows and columns elsewhere go the other way.
TEST_P(Tiled, ASingleTinyNumber) {
  if (type_ != ElementType::bf16) return;
  std::mt19937_64 random(12);
  for (const Case& sizes : {Case{70, 100, 64}, Case{70, 100, 1312}, Case{9, 300, 100}, Case{700, 40, 704}}) {
    for (const int exponent : {-133, -100}) {
      for (const bool in_a : {false, true}) {
        const Case c = transposed(sizes, static_cast<int>(random() % 4));
        const Problem p = problem_of(type_, c);
        const Operands operands(p, 0, 1);
        const Bytes& operand = in_a ? operands.a : operands.b;
        const std::size_t count = operand.size() / sizeof(BFloat16);
        put(operand, static_cast<std::int64_t>(random() % count), number_near(exponent, random));
        // So that the tiny one is not lost beside the others: its products are all there is.
        const Bytes& other = in_a ? operands.b : operands.a;
        fill_near(other, -20, random);
        check(c, operands);
      }
    }
  }
}

/// A row of C is added before sums are rounded by the instruction that takes subnormal ones for zero: not if with such
/// a row there can be any. Sums are 0, or around the smallest for which the registers compute, or far from them.
TEST_P(Tiled, TinyNumbersOfARowOfC) {
  if (type_ != ElementType::bf16) return;
  std::mt19937_64 random(15);
  for (const int exponent : {-133, -127, -126, -125, -120, -119, -118, -110, 0}) {
    for (const int exponent_b : {-56, -50, 56}) {
      for (const Case& sizes : {Case{40, 100, 70}, Case{5, 67, 96}, Case{33, 33, 64}, Case{300, 20, 64}}) {
        for (const bool is_single : {false, true}) {
          Case c = transposed(sizes, static_cast<int>(random() % 4));
          c.c = CForm::row;
          const Problem p = problem_of(type_, c);
          const Operands operands(p, byte_size(type_) + 1, 1);
          fill_near(operands.a, -56, random);
          for (std::int64_t k = 0; k < p.k; ++k) put(operands.a, 2 * p.a_row_step + k * p.a_column_step, BFloat16{});
          fill_near(operands.b, exponent_b, random);
          fill_near(operands.c, is_single ? 3 : exponent, random);
          put(operands.c, 1, BFloat16{});
          put(operands.c, static_cast<std::int64_t>(random() % 20), number_near(exponent, random));
          check(c, operands);
        }
      }
    }
  }
}

/// Sums of one range of k are subnormal; those of the next, which goes on from them, could not be by themselves.
TEST_P(Tiled, TinySumsMeetLargerProducts) {
  if (type_ != ElementType::bf16) return;
  std::mt19937_64 random(14);
  for (const Case& sizes : {Case{20, 40, 2600}, Case{3, 100, 1400}, Case{70, 70, 2624}, Case{200, 100, 1300}}) {
    for (const int transposes : {0, 1, 2, 3}) {
      const Case c = transposed(sizes, transposes);
      const Problem p = problem_of(type_, c);
      const Operands operands(p, 0, 1);
      fill_near(operands.b, -50, random);
      for (std::int64_t row = 0; row < p.m; ++row) {
        for (std::int64_t k = 0; k < p.k; ++k) {
          const bool is_first = k < 40, is_zero = !is_first && row % 2 == 0;
          const BFloat16 number = number_near(is_first ? -80 : -62, random);
          put(operands.a, row * p.a_row_step + k * p.a_column_step, is_zero ? BFloat16{} : number);
        }
      }
      check(c, operands);
    }
  }
}

TEST_P(Tiled, InfinitiesNaNsAndZeros) {
  if (type_ != ElementType::bf16) return;
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 0.0, -0.0,
                             0x1p127,  -0x1p127};
  std::mt19937_64 random(13);
  for (const Case& c : {Case{3, 40, 64}, Case{40, 40, 64}, Case{40, 70, 100, true, true, CForm::full, 0.5f, 2}}) {
    for (const int one_in : {3, 40, 400}) {
      const Operands operands(problem_of(type_, c), 0, 7);
      for (const Bytes* operand : {&operands.a, &operands.b, &operands.c}) {
        for (std::size_t i = 0; i < operand->size() / sizeof(BFloat16); ++i) {
          if (random() % static_cast<std::uint64_t>(one_in) != 0) continue;
          const double value = specials[random() % std::size(specials)];
          put(*operand, static_cast<std::int64_t>(i), BFloat16::from_double(value));
        }
      }
      check(c, operands);
    }
  }
}

/// The largest bytes everywhere, for the longest ranges of k: sums of their products must fit 32 bits, or be cut there.
TEST_P(Tiled, SumsOfBytesAreNotLost) {
  if (is_float(type_)) return;
  for (const std::int64_t k : {320, 640, 5000}) {
    const Case c{20, 40, k};
    const Operands operands(problem_of(type_, c), 0, 1);
    std::memset(operands.a.data(), 0xFF, operands.a.size());
    std::memset(operands.b.data(), 0xFF, operands.b.size());
    check(c, operands);
    const Case one_row{1, 40, k};
    check(one_row, operands, {true});
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
