// Every type on every target of this machine, against plain loops: factors, special values, alignments, empty extents.
#include <gtest/gtest.h>

#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

using GemmValues = TypeOnTargetTest;

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmValues, testing::ValuesIn(types_on_targets()), name_of);

TEST_P(GemmValues, EmptyExtents) {
  for (const Case& c : {Case{0, 5, 3}, Case{5, 0, 3}, Case{4, 5, 0, false, false, CForm::row, 2, 0.5f},
                        Case{4, 5, 0, true, true, CForm::none, -1, 1}, Case{0, 0, 0}}) {
    const Problem p = problem_of(type_, c);
    check(c, Operands(p, 0, 1), {false});
  }
}

TEST_P(GemmValues, WithoutAnyKOperandsMayBeNull) {
  const Problem p = problem_of(type_, {3, 4, 0});
  const Plan plan = make_plan(p, target_, 1, false);
  const Bytes y(Operands::bytes_of(p, 12), 0);
  run(plan, nullptr, nullptr, nullptr, y.data(), nullptr, one_thread_);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], std::byte{0});
}

/// Y is beta * C then, or zeros: more columns than are finished at a time, every form of C, whatever alpha is.
TEST_P(GemmValues, WithoutAnyKThereIsC) {
  for (const std::int64_t n : {1, 7, 300, 1100}) {
    for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
      for (const float beta : {1.0f, 0.0f, -0.75f}) {
        const Case c{9, n, 0, false, false, form, std::numeric_limits<float>::infinity(), beta};
        check(c, Operands(problem_of(type_, c), byte_size(type_) + 1, 1), {false}, 1);
      }
    }
  }
}

TEST_P(GemmValues, AnyAlignment) {
  for (const std::size_t misalignment : {std::size_t{1}, byte_size(type_), 2 * byte_size(type_) + 1}) {
    for (const Case& c : {Case{1, 37, 5}, Case{13, 35, 9, true, true, CForm::full}, Case{30, 70, 11, false, true},
                          Case{50, 3, 20, false, false, CForm::column, 2, 0.5f}, Case{90, 90, 90, false, false}}) {
      check(c, misalignment);
    }
  }
}

TEST_P(GemmValues, BetaZeroDoesNotReadC) {
  for (const Case& c : {Case{1, 40, 5}, Case{13, 35, 9}, Case{40, 70, 300}}) {
    Problem p = problem_of(type_, c);
    p.has_c = true;
    p.beta = -0.0f;
    const Operands operands(p, 0, 1);
    std::memset(operands.c.data(), 0xFF, operands.c.size());  // NaN in every floating-point type
    const Plan plan = make_plan(p, target_, 1, false);
    const Bytes workspace(plan.workspace_bytes, 0);
    const Bytes with_nan(Operands::bytes_of(p, p.m * p.n), 0);
    run(plan, operands.a.data(), operands.b.data(), operands.c.data(), with_nan.data(), workspace.data(), one_thread_);
    p.has_c = false;
    const Bytes without = compute(p, operands, target_, one_thread_);
    EXPECT_EQ(difference(type_, with_nan.data(), without.data(), p.m * p.n), "") << c;
  }
}

double smallest_of(ElementType type) {
  return type == ElementType::f16   ? 0x1p-24
         : type == ElementType::f64 ? 0x1p-1074
         : type == ElementType::f32 ? 0x1p-149
                                    : 0x1p-133;
}

void put_rounded(ElementType type, const Bytes& operand, std::int64_t place, double value) {
  if (type == ElementType::f16) put(operand, place, Float16::from_double(value));
  if (type == ElementType::bf16) put(operand, place, BFloat16::from_double(value));
  if (type == ElementType::f32) put(operand, place, static_cast<float>(value));
  if (type == ElementType::f64) put(operand, place, value);
}

/// Infinities, NaN, zeros of both signs, the largest and smallest numbers, each in few places of A and B.
TEST_P(GemmValues, SpecialValues) {
  if (!is_float(type_)) return;
  const double smallest = smallest_of(type_);
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {infinity,     -infinity, std::numeric_limits<double>::quiet_NaN(),
                             0.0,          -0.0,      smallest,
                             5 * smallest, 0x1p15,    -smallest};
  for (const Case& c : {Case{1, 40, 3}, Case{5, 20, 2, false, true}, Case{30, 70, 3, true, false, CForm::row},
                        Case{30, 1, 3}, Case{300, 1, 3}, Case{201, 1, 7}, Case{3, 40, 6, false, true},
                        Case{13, 35, 1, false, false, CForm::full, 0.5f, 0.25f}}) {
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 7);
    std::mt19937_64 random(3);
    for (const Bytes* operand : {&operands.a, &operands.b, &operands.c}) {
      const std::size_t count = operand->size() / byte_size(type_);
      for (std::size_t i = 0; i < count; ++i) {
        if (random() % 3 != 0) continue;
        put_rounded(type_, *operand, static_cast<std::int64_t>(i), specials[random() % std::size(specials)]);
      }
    }
    check(c, operands);
  }
}

/// Products that vanish keep their sign in a sum that begins with +0, if every one of its parts has such a product;
/// exact zeros of either sign do not.
TEST_P(GemmValues, SignsOfZeros) {
  if (!is_float(type_)) return;
  const double smallest = smallest_of(type_);
  for (const std::int64_t k : {1, 3, 5, 11, 32, 33, 40, 41, 48, 55, 57, 63, 64, 65, 67, 128, 129}) {
    for (const Case& c : {Case{23, 1, k}, Case{9, 1, k, false, true}, Case{9, 3, k}, Case{9, 4, k}, Case{9, 6, k},
                          Case{1, 20, k}, Case{2, 40, k, false, true}, Case{30, 20, k}, Case{200, 1, k}}) {
      const Problem p = problem_of(type_, c);
      const Operands operands(p, 0, 1);
      for (std::int64_t i = 0; i < p.n * p.k; ++i) put_rounded(type_, operands.b, i, smallest);
      for (std::int64_t i = 0; i < p.m * p.k; ++i) {
        const std::int64_t row = i / k, kind = row < 8 ? row % 4 : 3;  // four rows together without a zero, too
        const double values[] = {-smallest, -0.0, i % 2 == 0 ? 0.0 : -smallest, -1.5};
        put_rounded(type_, operands.a, i, values[kind]);
      }
      check(c, operands);
    }
  }
}

TEST_P(GemmValues, IntegerFactors) {
  if (is_float(type_)) return;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float alpha : {1.0f, -1.0f, 3e9f, -0x1p31f, 0x1.8p40f, -0x1.000002p63f, 0x1p70f, 0.25f, 1e30f, infinity}) {
    for (const float beta : {1.0f, -7.0f, 0x1p33f, 0.5f, std::numeric_limits<float>::quiet_NaN()}) {
      check({3, 37, 4, false, false, CForm::full, alpha, beta});
      for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column}) {
        check({2, 23, 3, false, false, form, alpha, beta}, byte_size(type_) + 1);
      }
    }
  }
}

/// Around the places where the kernels cut numbers into parts: 16, 32 and 52 bits, with and without a carry.
TEST_P(GemmValues, IntegerParts) {
  if (is_float(type_)) return;
  std::vector<std::uint64_t> numbers;
  for (const int bit : {0, 12, 15, 16, 31, 32, 47, 52, 63}) {
    for (const std::uint64_t below : {0x0ull, 0x1ull, 0x7FFFull, 0x8000ull}) {
      numbers.push_back((std::uint64_t{1} << bit) - below);
      numbers.push_back(~((std::uint64_t{1} << bit) - below));
    }
  }
  // Each number of A meets each one of B: alone, in pairs with itself, and with whatever else K brings together.
  const auto count = static_cast<std::int64_t>(numbers.size());
  for (const std::int64_t k : {1, 2, 3, 64}) {
    for (const int transposes : {0, 1, 2, 3}) {
      const Case c{count, count, k, (transposes & 1) != 0, (transposes & 2) != 0};
      const Problem p = problem_of(type_, c);
      const Operands operands(p, 0, 1);
      for (std::int64_t i = 0; i < count * k; ++i) {
        const std::int64_t step = k == 64 ? 7 * (i % k) : 0;
        const std::int64_t lane_of_a = c.trans_a ? i % count : i / k, lane_of_b = c.trans_b ? i / k : i % count;
        const std::uint64_t a = numbers[static_cast<std::size_t>((lane_of_a + step) % count)];
        const std::uint64_t b = numbers[static_cast<std::size_t>((lane_of_b + step * step) % count)];
        if (byte_size(type_) == 4) {
          put(operands.a, i, static_cast<std::uint32_t>(a));
          put(operands.b, i, static_cast<std::uint32_t>(b));
        } else {
          put(operands.a, i, a);
          put(operands.b, i, b);
        }
      }
      check(c, operands);
    }
  }
}

/// Numbers worked out by hand, since the kernels and the reference share the rule.
TEST(GemmIntegerRule, CutsTowardsZeroAndSaturates) {
  EXPECT_EQ(cut<std::int32_t>(-2.9), -2);
  EXPECT_EQ(cut<std::int32_t>(2.9), 2);
  EXPECT_EQ(cut<std::int32_t>(3e9), 2147483647);
  EXPECT_EQ(cut<std::int32_t>(-3e9), -2147483647 - 1);
  EXPECT_EQ(cut<std::uint32_t>(-0.5), 0u);
  EXPECT_EQ(cut<std::uint32_t>(4294967295.5), 4294967295u);
  EXPECT_EQ(cut<std::uint64_t>(0x1p64), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(cut<std::int64_t>(-0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(cut<std::int64_t>(std::numeric_limits<double>::quiet_NaN()), 0);
  Scale half;
  half.alpha = 0.5f;
  EXPECT_EQ(fractional_result<std::int32_t>(static_cast<std::uint32_t>(-7), 0, half), static_cast<std::uint32_t>(-3));
  EXPECT_EQ(fractional_result<std::uint32_t>(0xFFFFFFF9u, 0, half), 0x7FFFFFFCu);
}

/// The rounding of a product and its addition one by one stays within the bound that the conformance pack allows.
TEST(GemmBound, UnfusedTargetsStayNearTheFusedReference) {
  const Case c{20, 40, 700};
  const Problem p = problem_of(ElementType::f32, c);
  const Operands operands(p, 0, 5);
  const Bytes want(Operands::bytes_of(p, p.m * p.n), 0);
  run_reference(p, SumOrder(), operands.a.data(), operands.b.data(), nullptr, want.data());
  const ThreadPool pool(1);
  for (const Target& target : supported_targets()) {
    const Bytes got = compute(p, operands, target, pool);
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      const double error = std::fabs(double{get<float>(got.data(), i)} - double{get<float>(want.data(), i)});
      EXPECT_LE(error, (700 + 8) * 0x1p-24 * 700) << target.name;
    }
  }
}

/// Factors beside every form of C, of a few rows and of several blocks of them, whether rows are whole vectors or not.
TEST_P(GemmValues, FactorsOfAllForms) {
  const std::int64_t lanes = kernels_.lanes;
  for (const CForm form : {CForm::none, CForm::scalar, CForm::row, CForm::column, CForm::full}) {
    for (const std::int64_t m : {9, 40, 300}) {
      for (const std::int64_t n : {std::int64_t{1}, lanes / 2 + 1, lanes, 2 * lanes, 5 * lanes - 1, 9 * lanes + 1}) {
        for (const std::int64_t k : {3, 20}) {
          check({m, n, k, false, false, form, -2.5f, 1.0f}, n % 2 == 0 ? byte_size(type_) + 1 : 0);
          check({m, n, k, false, false, form, 1.0f, 0.75f});
        }
      }
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
