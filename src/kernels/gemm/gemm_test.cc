// Every type on every target of this machine, against plain loops: sizes around those of tiles and blocks, transposes,
// forms of C, factors, special values, alignments.
#include <gtest/gtest.h>

#include "kernels/gemm/gemm_testing.h"
#include "kernels/gemm/order.h"

namespace binet::kernels::gemm {
namespace {

/// The reference for targets whose products and additions are rounded one by one.
template <class T, class Sum>
void unfused_reference(const Problem& p, const Operands& operands, std::byte* y) {
  const Scale scale = make_scale(p);
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t n = 0; n < p.n; ++n) {
      const Sum sum = sum_in_order<Sum>(p, [&](Sum before, std::int64_t k) {
        const auto a = static_cast<Sum>(get<T>(operands.a.data(), i * p.a_row_step + k * p.a_column_step));
        const auto b = static_cast<Sum>(get<T>(operands.b.data(), k * p.b_row_step + n * p.b_column_step));
        const Sum product = a * b;
        return before + product;
      });
      Sum value = static_cast<Sum>(scale.alpha) * sum;
      if (scale.has_c) {
        const auto c = static_cast<Sum>(get<T>(operands.c.data(), i * p.c_row_step + n * p.c_column_step));
        const Sum product = static_cast<Sum>(scale.beta) * c;
        value += product;
      }
      T result;
      if constexpr (sizeof(T) == 2) {
        result = T::from_float(value);
      } else {
        result = value;
      }
      std::memcpy(y + (i * p.n + n) * static_cast<std::int64_t>(sizeof(T)), &result, sizeof(T));
    }
  }
}

void compute_reference(const Problem& p, const Operands& operands, const Kernels& kernels, std::byte* y) {
  if (!is_float(p.type) || kernels.is_fused) {
    return run_reference(p, operands.a.data(), operands.b.data(), p.has_c ? operands.c.data() : nullptr, y);
  }
  switch (p.type) {
    case ElementType::f16:
      return unfused_reference<Float16, float>(p, operands, y);
    case ElementType::bf16:
      return unfused_reference<BFloat16, float>(p, operands, y);
    case ElementType::f32:
      return unfused_reference<float, float>(p, operands, y);
    default:
      return unfused_reference<double, double>(p, operands, y);
  }
}

struct TypeOnTarget {
  ElementType type;
  Target target;
};

void PrintTo(const TypeOnTarget& tested, std::ostream* out) {
  *out << to_string(tested.type) << " on " << tested.target.name;
}

std::vector<TypeOnTarget> types_on_targets() {
  std::vector<TypeOnTarget> all;
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) all.push_back({type, target});
  }
  return all;
}

class GemmTest : public testing::TestWithParam<TypeOnTarget> {
 protected:
  const ElementType type_ = GetParam().type;
  const Target target_ = GetParam().target;
  const Kernels& kernels_ = *find_kernels(type_, target_);
  const ThreadPool one_thread_{1};

  void check(const Case& c, const Operands& operands, bool pack, std::size_t misalignment = 0) {
    const Problem p = problem_of(type_, c);
    const Bytes want(Operands::bytes_of(p, p.m * p.n), 0);
    compute_reference(p, operands, kernels_, want.data());
    const Bytes got = compute(p, operands, target_, one_thread_, pack, misalignment);
    EXPECT_EQ(difference(type_, got.data(), want.data(), p.m * p.n), "") << c << " packed " << pack;
  }
  void check(const Case& c, std::size_t misalignment = 0) {
    const Operands operands(problem_of(type_, c), misalignment, 1);
    check(c, operands, false, misalignment);
    check(c, operands, true, misalignment);
  }

  /// Goes through forms of C and factors, so that every one meets many sizes.
  void vary(Case& c) {
    constexpr struct {
      CForm c;
      float alpha, beta;
    } kForms[] = {{CForm::none, 1, 1},      {CForm::row, 1, 1},    {CForm::full, 1, 1},
                  {CForm::column, -2, 3},   {CForm::scalar, 1, 1}, {CForm::none, 0.5f, 1},
                  {CForm::full, 0.35f, -1}, {CForm::row, 0, 1},    {CForm::column, 1, 0.7f},
                  {CForm::full, 1, 0},      {CForm::none, 3, 1},   {CForm::scalar, 1, -2.5f}};
    const auto& form = kForms[next_form_++ % std::size(kForms)];
    c.c = form.c;
    c.alpha = form.alpha;
    c.beta = form.beta;
  }

 private:
  std::size_t next_form_ = 0;
};

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, GemmTest, testing::ValuesIn(types_on_targets()), [](const auto& tested) {
  return std::string(to_string(tested.param.type)) + "_" + std::string(tested.param.target.name);
});

TEST_P(GemmTest, SizesAroundTiles) {
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

/// Dot products: around their shortest K, and around the number of their partial sums.
TEST_P(GemmTest, FewColumns) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const std::int64_t k : {31, 32, 33, 63, 64, 65, 127, 128, 200}) {
      for (const std::int64_t n : {1, 2, 3, 4, 5}) {
        for (const std::int64_t m : {1, 3, 4, 5, 37}) {
          Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0};
          vary(c);
          check(c);
        }
      }
    }
  }
  check(Case{3000, 1, 40, false, false, CForm::row});
  check(Case{1100, 3, 64, false, true, CForm::full, 2, 0.5f});
}

TEST_P(GemmTest, Segments) {
  for (const int transposes : {0, 1, 2, 3}) {
    for (const Case& sizes : {Case{5, 10, 8192}, Case{17, 64, 12345}, Case{3, 2, 20000}, Case{40, 1, 8200},
                              Case{2, 65, 8192}, Case{30, 7, 33000}}) {
      Case c = sizes;
      c.trans_a = (transposes & 1) != 0;
      c.trans_b = (transposes & 2) != 0;
      vary(c);
      check(c);
    }
  }
}

/// Where few rows and columns have kernels of their own: the edges of the others.
TEST_P(GemmTest, SizesAroundPackedTiles) {
  if (kernels_.in_place == nullptr) return;
  const std::int64_t least = 26;
  for (std::int64_t m = least; m < least + kernels_.mr; ++m) {
    for (std::int64_t n = least; n <= least + kernels_.nr; ++n) {
      for (const std::int64_t k : {1, 2, 3, 16, 19}) {
        const int transposes = static_cast<int>((m + n + k) % 4);
        Case c{m, n, k, (transposes & 1) != 0, (transposes & 2) != 0};
        vary(c);
        EXPECT_EQ(make_plan(problem_of(type_, c), target_, 1, false).kernels, &kernels_);
        check(c);
      }
    }
  }
}

TEST_P(GemmTest, SizesAroundBlocks) {
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
    Case many_columns{5, 700, 30, trans_a, trans_b};
    vary(many_columns);
    check(many_columns);
    Case few_columns{300, 2, 40, trans_a, trans_b};
    vary(few_columns);
    check(few_columns);
  }
}

/// Every height of rows, and columns that are one to five vectors, the last of them whole or not.
TEST_P(GemmTest, SmallProducts) {
  const std::int64_t lanes = kernels_.lanes;
  std::size_t at_once = 0;
  for (std::int64_t m = 1; m <= 4 * kernels_.mr + 3; ++m) {
    for (const std::int64_t n : {lanes - 1, lanes, 2 * lanes, 3 * lanes - 2, 3 * lanes, 4 * lanes, 5 * lanes - 1}) {
      Case c{m, std::max<std::int64_t>(n, 1), 5, m % 3 == 0, false};
      vary(c);
      if (make_plan(problem_of(type_, c), target_, 1, false).schedule.is_at_once) ++at_once;
      check(c);
    }
  }
  if (is_float(type_) && kernels_.multiply_at_once != nullptr) {
    EXPECT_GT(at_once, static_cast<std::size_t>(8 * kernels_.mr));
  }
}

/// One row and a few, times a B, transposed or not, that is large enough to be read once, as it lies: around vectors,
/// around the rows of B taken together, beyond the columns whose sums wait together, and beyond a range of k.
TEST_P(GemmTest, FewRowsOfALargeB) {
  for (const Case& sizes : {Case{1, 1003, 137}, Case{2, 519, 278}, Case{3, 1031, 131}, Case{1, 16421, 11},
                            Case{2, 4133, 35}, Case{1, 71, 4105}, Case{5, 40, 3333}}) {
    for (const int transposes : {0, 1, 2, 3}) {
      Case c = sizes;
      c.trans_a = (transposes & 1) != 0;
      c.trans_b = (transposes & 2) != 0;
      vary(c);
      check(c, transposes == 0 ? byte_size(type_) + 1 : 0);
    }
  }
}

TEST_P(GemmTest, EmptyExtents) {
  for (const Case& c : {Case{0, 5, 3}, Case{5, 0, 3}, Case{4, 5, 0, false, false, CForm::row, 2, 0.5f},
                        Case{4, 5, 0, true, true, CForm::none, -1, 1}, Case{0, 0, 0}}) {
    const Problem p = problem_of(type_, c);
    check(c, Operands(p, 0, 1), false);
  }
}

TEST_P(GemmTest, WithoutAnyKOperandsMayBeNull) {
  const Problem p = problem_of(type_, {3, 4, 0});
  const Plan plan = make_plan(p, target_, 1, false);
  const Bytes y(Operands::bytes_of(p, 12), 0);
  run(plan, nullptr, nullptr, nullptr, y.data(), nullptr, one_thread_);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y.data()[i], std::byte{0});
}

TEST_P(GemmTest, AnyAlignment) {
  for (const std::size_t misalignment : {std::size_t{1}, byte_size(type_), 2 * byte_size(type_) + 1}) {
    for (const Case& c : {Case{1, 37, 5}, Case{13, 35, 9, true, true, CForm::full}, Case{30, 70, 11, false, true},
                          Case{50, 3, 20, false, false, CForm::column, 2, 0.5f}, Case{90, 90, 90, false, false}}) {
      check(c, misalignment);
    }
  }
}

TEST_P(GemmTest, BetaZeroDoesNotReadC) {
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

/// Infinities, NaN, zeros of both signs, the largest and smallest numbers, each in few places of A and B.
TEST_P(GemmTest, SpecialValues) {
  if (!is_float(type_)) return;
  const double smallest = type_ == ElementType::f16   ? 0x1p-24
                          : type_ == ElementType::f64 ? 0x1p-1074
                          : type_ == ElementType::f32 ? 0x1p-149
                                                      : 0x1p-133;
  const double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {infinity,     -infinity, std::numeric_limits<double>::quiet_NaN(),
                             0.0,          -0.0,      smallest,
                             5 * smallest, 0x1p15,    -smallest};
  for (const Case& c : {Case{1, 40, 3}, Case{5, 20, 2, false, true}, Case{30, 70, 3, true, false, CForm::row},
                        Case{30, 1, 3}, Case{13, 35, 1, false, false, CForm::full, 0.5f, 0.25f}}) {
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 0, 7);
    std::mt19937_64 random(3);
    for (const Bytes* operand : {&operands.a, &operands.b, &operands.c}) {
      const std::size_t count = operand->size() / byte_size(type_);
      for (std::size_t i = 0; i < count; ++i) {
        if (random() % 3 != 0) continue;
        const double value = specials[random() % std::size(specials)];
        const auto place = static_cast<std::int64_t>(i);
        if (type_ == ElementType::f16) put(*operand, place, Float16::from_double(value));
        if (type_ == ElementType::bf16) put(*operand, place, BFloat16::from_double(value));
        if (type_ == ElementType::f32) put(*operand, place, static_cast<float>(value));
        if (type_ == ElementType::f64) put(*operand, place, value);
      }
    }
    check(c, operands, false);
    check(c, operands, true);
  }
}

TEST_P(GemmTest, IntegerFactors) {
  if (is_float(type_)) return;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float alpha : {1.0f, -1.0f, 3e9f, -0x1p31f, 0x1.8p40f, -0x1.000002p63f, 0x1p70f, 0.25f, 1e30f, infinity}) {
    for (const float beta : {1.0f, -7.0f, 0x1p33f, 0.5f, std::numeric_limits<float>::quiet_NaN()}) {
      check({3, 37, 4, false, false, CForm::full, alpha, beta});
    }
  }
}

/// Around the places where the kernels cut numbers into parts: 16, 32 and 52 bits, with and without a carry.
TEST_P(GemmTest, IntegerParts) {
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
      check(c, operands, false);
      check(c, operands, true);
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
  run_reference(p, operands.a.data(), operands.b.data(), nullptr, want.data());
  const ThreadPool pool(1);
  for (const Target& target : supported_targets()) {
    const Bytes got = compute(p, operands, target, pool);
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      const double error = std::fabs(double{get<float>(got.data(), i)} - double{get<float>(want.data(), i)});
      EXPECT_LE(error, (700 + 8) * 0x1p-24 * 700) << target.name;
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
