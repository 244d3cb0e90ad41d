// What Binet promises about bits: they depend on neither M, nor the row, nor the threads, nor on who packed B; and the
// rounding to 16 bits when a tile is stored is the right one on every target.
#include <gtest/gtest.h>

#include "kernels/gemm/gemm_testing.h"

namespace binet::kernels::gemm {
namespace {

constexpr Case kProducts[] = {{50, 70, 600},
                              {50, 70, 600, true, true, CForm::row, 0.5f, 2},
                              {300, 200, 40, false, true},
                              {37, 1, 300},
                              {64, 3, 900, false, false, CForm::column},
                              {64, 2, 90, true, true},
                              {37, 33, 300, false, true, CForm::full},
                              {37, 6, 301},
                              {50, 70, 6, false, false, CForm::full},
                              {41, 21, 11, false, true},
                              {14, 43, 1025, false, true},  // rows of B that meet in the sets of a cache
                              {14, 43, 2047, false, true},
                              {29, 150, 261, false, false, CForm::row, 2, 3},
                              {40, 3, 9000},
                              {30, 20, 8500, true, false, CForm::row, 2, 3}};

class GemmBitsTest : public testing::TestWithParam<ElementType> {
 protected:
  const ElementType type_ = GetParam();
};

INSTANTIATE_TEST_SUITE_P(AllTypes, GemmBitsTest, testing::ValuesIn(kTypes),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST_P(GemmBitsTest, ThreadsDoNotMatter) {
  const ThreadPool pools[] = {ThreadPool(1), ThreadPool(2), ThreadPool(3), ThreadPool(8)};
  constexpr Case kLarge[] = {{300, 300, 300},
                             {1, 2000, 1500},
                             {4, 3000, 200, false, true},
                             {5000, 20, 20},
                             {2000, 1, 900},
                             {600, 17, 700},
                             {150, 1024, 20},  // rows that meet
                             {100, 100, 60},   // low blocks of rows
                             {150, 300, 30},
                             {24, 200, 500},  // each worker's rows at once
                             {201, 140, 300, true, false, CForm::row},
                             {14, 2048, 700},
                             {6, 9001, 7},  // some columns for each worker
                             {20, 5000, 3, true, false, CForm::full},
                             {9, 12000, 8, false, false, CForm::row},
                             {33, 3003, 12, false, false, CForm::column},
                             {900, 70, 40, true, false, CForm::column, 0.5f, 2}};
  std::vector<Case> cases(std::begin(kProducts), std::end(kProducts));
  cases.insert(cases.end(), std::begin(kLarge), std::end(kLarge));
  for (const Target& target : supported_targets()) {
    for (const Case& c : cases) {
      const Problem p = problem_of(type_, c);
      const Operands operands(p, 0, 1);
      const Bytes want = compute(p, operands, target, pools[0]);
      for (const ThreadPool& pool : pools) {
        for (const bool pack : {false, true}) {
          const Bytes got = compute(p, operands, target, pool, pack);
          EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size()), 0)
              << c << " " << target.name << " " << pool.threads() << " threads, packed " << pack;
        }
      }
    }
  }
}

/// Rows `first` to `first + count` alone give the bits that they give among all rows.
TEST_P(GemmBitsTest, RowsDoNotMatter) {
  const ThreadPool pool(1);
  for (const Target& target : supported_targets()) {
    for (const Case& c : kProducts) {
      const Problem all = problem_of(type_, c);
      const Operands operands(all, 0, 1);
      const Bytes want = compute(all, operands, target, pool);
      const auto bytes = static_cast<std::int64_t>(byte_size(type_));
      for (const std::int64_t count : {1, 2, 5, 13}) {
        for (std::int64_t first = 0; first + count <= c.m; first += 11) {
          Problem part = all;
          part.m = count;
          const Plan plan = make_plan(part, target, 1, false);
          const Bytes workspace(plan.workspace_bytes, 0);
          const Bytes got(Operands::bytes_of(part, count * c.n), 0);
          const std::byte* row_of_c = operands.c.data() + first * all.c_row_step * bytes;
          run(plan, operands.a.data() + first * all.a_row_step * bytes, operands.b.data(), row_of_c, got.data(),
              workspace.data(), pool);
          EXPECT_EQ(std::memcmp(got.data(), want.data() + first * c.n * bytes, got.size()), 0)
              << c << " " << target.name << " rows " << first << " + " << count;
        }
      }
    }
  }
}

/// All f32 that matter: every sign, exponent and upper fraction bit, with lower bits that are zero, just above it,
/// just below, at and above one half, and all ones.
template <class Half>
void check_rounding(const Target& target) {
  const Kernels& kernels = *find_kernels(element_type_of<Half>, target);
  constexpr std::uint32_t kLower[] = {0, 1, 0x7FF, 0x800, 0x801, 0xFFF};
  constexpr std::size_t kCount = 1 << 12;
  std::vector<float> sums(kCount);
  std::vector<Half> rounded(kCount);
  Output output;
  output.y = reinterpret_cast<std::byte*>(rounded.data());
  for (const std::uint32_t lower : kLower) {
    for (std::uint32_t upper = 0; upper < (1u << 20); upper += kCount) {
      for (std::uint32_t i = 0; i < kCount; ++i) sums[i] = std::bit_cast<float>((upper + i) << 12 | lower);
      kernels.finish(reinterpret_cast<const std::byte*>(sums.data()), 0, 1, kCount, output, 0, 0, Scale());
      for (std::size_t i = 0; i < kCount; ++i) {
        const Half want = Half::from_float(sums[i]);
        const bool is_quiet_nan = std::isnan(sums[i]) && std::isnan(static_cast<float>(rounded[i])) &&
                                  (rounded[i].bits & (std::is_same_v<Half, Float16> ? 0x200u : 0x40u)) != 0;
        ASSERT_TRUE(rounded[i] == want || is_quiet_nan)
            << target.name << ": " << sums[i] << " became bits " << rounded[i].bits << ", not " << want.bits;
      }
    }
  }
}

/// 1 * x for every x of the type, with x in A, where it is widened while packing, and in B, where it is widened on the
/// way, gives x back.
template <class Half>
void check_widening(const Target& target) {
  const ThreadPool pool(1);
  Problem p = problem_of(element_type_of<Half>, {1, 1 << 16, 1});
  const Operands operands(p, 0, 1);
  put(operands.a, 0, Half::from_float(1.0f));
  for (std::uint32_t bits = 0; bits < (1u << 16); ++bits) {
    put(operands.b, bits, Half{static_cast<std::uint16_t>(bits)});
  }
  for (const bool pack : {false, true}) {
    const Bytes y = compute(p, operands, target, pool, pack);
    for (std::uint32_t bits = 0; bits < (1u << 16); ++bits) {
      const Half want{static_cast<std::uint16_t>(bits == 0x8000u ? 0u : bits)};  // the sum begins with +0
      ASSERT_TRUE(same(get<Half>(y.data(), bits), want)) << target.name << " " << bits;
    }
  }
}

TEST(GemmRounding, SixteenBitStores) {
  for (const Target& target : supported_targets()) {
    check_rounding<Float16>(target);
    check_rounding<BFloat16>(target);
  }
}

TEST(GemmRounding, SixteenBitLoads) {
  for (const Target& target : supported_targets()) {
    check_widening<Float16>(target);
    check_widening<BFloat16>(target);
  }
}

TEST(GemmKernels, EveryTypeIsServedOnEveryTarget) {
  for (const Target& target : supported_targets()) {
    for (const ElementType type : kTypes) {
      const Kernels* kernels = find_kernels(type, target);
      ASSERT_NE(kernels, nullptr);
      EXPECT_EQ(kernels->type, type);
      EXPECT_NE(describe(*kernels), "");
    }
    EXPECT_EQ(find_kernels(ElementType::i8, target), nullptr);
  }
}

/// Integers in parts need packed operands; a plan with few rows and columns goes back to the kernels that need none, if
/// they can read B, which in 32 bits, and for matrix registers, they cannot once it is packed.
TEST(GemmKernels, IntegersInPartsAreThoseOfAvx512dlAndAmx) {
  for (const Target& target : supported_targets()) {
    for (const ElementType type : {ElementType::i32, ElementType::u32, ElementType::i64, ElementType::u64}) {
      const Kernels& kernels = *find_kernels(type, target);
      EXPECT_EQ(kernels.in_place != nullptr, target.name == "avx512dl" || target.name == "amx") << target.name;
      const auto kernels_for = [&](const Case& c, bool b_is_packed) {
        return make_plan(problem_of(type, c), target, 1, b_is_packed).kernels;
      };
      EXPECT_EQ(kernels_for({64, 64, 64}, false), &kernels);
      const Kernels* others = kernels.in_place == nullptr ? &kernels : kernels.in_place;
      const bool is_packed_in_parts = kernels.tiled != nullptr || byte_size(type) == 4;
      EXPECT_EQ(kernels_for({1, 64, 64}, true), is_packed_in_parts ? &kernels : others);
      EXPECT_EQ(kernels_for({1, 64, 64}, false), others);
    }
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
