// Every type on every target of this machine: which constants are packed, and that their products have the same bits
// either way, as sessions of one model may choose differently.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/gemm/packed_b.h"
#include "kernels/gemm/tiled/kernels.h"
#include "kernels/gemm/type_on_target_testing.h"

namespace binet::kernels::gemm {
namespace {

class ConstantB : public TypeOnTargetTest {
 protected:
  bool repays(std::int64_t m, std::int64_t n, std::int64_t k, bool trans_b = false) const {
    return repays_packing(problem_of(type_, {m, n, k, false, trans_b}), target_);
  }
  bool is_on_registers() const { return kernels_.tiled != nullptr && !kernels_.tiled->are_vectors; }
};

INSTANTIATE_TEST_SUITE_P(AllTypesAndTargets, ConstantB, testing::ValuesIn(types_on_targets()), name_of);

TEST_P(ConstantB, IsPackedIfItsFormIsMadeOfElements) {
  if (kernels_.in_place != nullptr || is_on_registers()) return;
  for (const std::int64_t m : {1, 2, 50}) {
    for (const std::int64_t n : {1, 7, 20, 300}) {
      for (const std::int64_t k : {1, 20, 500}) {
        for (const bool trans_b : {false, true}) EXPECT_TRUE(repays(m, n, k, trans_b));
      }
    }
  }
}

TEST_P(ConstantB, OfMatrixRegistersServesFewRowsAsItLies) {
  if (!is_on_registers()) return;
  if (is_float(type_)) {
    EXPECT_FALSE(repays(1, 40, 80));
    EXPECT_TRUE(repays(1, 40, 81));
    EXPECT_FALSE(repays(2, 40, 40));
    EXPECT_TRUE(repays(2, 40, 41));
    EXPECT_TRUE(repays(1, 40, 40, true));
  } else {
    const bool are_64_bits = byte_size(type_) == 8;
    const std::int64_t few = are_64_bits ? 5 : 6, few_of_transposed = are_64_bits ? 4 : 1;
    EXPECT_TRUE(!repays(few, 1000, 1000) && repays(few + 1, 1000, 1000));
    EXPECT_TRUE(!repays(few_of_transposed, 1000, 1000, true) && repays(few_of_transposed + 1, 1000, 1000, true));
  }
}

/// As halves of 16 bits, or numbers of 52.
TEST_P(ConstantB, OfIntegersServesFewRowsOfAShortKAsItLies) {
  if (kernels_.in_place == nullptr) return;
  EXPECT_FALSE(repays(12, 64, 28));  // short rows
  EXPECT_TRUE(repays(12, 65, 28));
  EXPECT_FALSE(repays(4, 500, 15));
  EXPECT_TRUE(repays(4, 500, 16));
  EXPECT_TRUE(repays(12, 1000, 15));  // a Y of more than 32 KiB
  EXPECT_TRUE(repays(24, 24, 15));    // both operands repay packing in the call itself
  EXPECT_FALSE(repays(1, 1000, 31));
  EXPECT_TRUE(repays(1, 1000, 15, true));
  if (is_on_registers()) return;
  EXPECT_FALSE(repays(1, 1000, 63));
  EXPECT_TRUE(repays(1, 1000, 64));
  const bool are_64_bits = byte_size(type_) == 8;
  EXPECT_EQ(repays(1, 64, 1000), are_64_bits);
  EXPECT_EQ(repays(1, 200, 128, true), are_64_bits);
  EXPECT_TRUE(repays(1, 200, 127, true));
  EXPECT_TRUE(repays(1, 201, 128, true));
}

/// Columns so few that no number of rows would repay the other form.
TEST_P(ConstantB, OfIntegersIsKeptAsRowsIfTheyAreShort) {
  if (kernels_.in_place == nullptr) return;
  const std::int64_t k = is_on_registers() ? kernels_.tiled->least_k - 1 : 500;
  const auto keeps = [this](std::int64_t n, std::int64_t of_k) {
    return keeps_rows(problem_of(type_, {1000, n, of_k}), kernels_);
  };
  const std::int64_t few = byte_size(type_) == 8 ? 12 : 20, of_short_k = byte_size(type_) == 8 ? 24 : 144;
  EXPECT_TRUE(keeps(few, k) && !keeps(few + 1, k));
  EXPECT_TRUE(keeps(of_short_k, 4) && !keeps(of_short_k + 1, 4));
  for (const std::int64_t n : {std::int64_t{8}, few, few + 1, of_short_k, of_short_k + 1}) {
    for (const std::int64_t m : {1, 5, 31, 200}) {
      Case c{m, n, n >= of_short_k ? 4 : k, m == 31, n % 2 == 1};
      vary(c);
      check(c);
    }
  }
}

/// With vectors of half a line. They end where the room for them does.
TEST_P(ConstantB, RowsThatWouldMeetAreKeptALineApart) {
  if (!kernels_.has_short_vectors || kernels_.widens()) return;
  const std::int64_t line = 64 / kernels_.element_bytes;
  for (const std::int64_t lines : {7, 8, 16, 17}) {
    for (const std::int64_t m : {2, 7, 40}) {
      Case c{m, lines * line, 60, false, m == 7};
      vary(c);
      const Problem p = problem_of(type_, c);
      EXPECT_TRUE(keeps_rows(p, kernels_)) << c;
      EXPECT_EQ(with_kept_rows(p, kernels_).b_row_step, (lines % 8 == 0 ? lines + 1 : lines) * line) << c;
      check(c, 8);
    }
  }
}

TEST_P(ConstantB, GivesTheSameBitsPackedOrNot) {
  for (const Case& sizes : {Case{1, 40, 80}, Case{2, 33, 40}, Case{3, 100, 26}, Case{1, 300, 100}, Case{2, 65, 129},
                            Case{5, 70, 12}, Case{1, 130, 61, false, true}, Case{1, 90, 300, false, true}}) {
    Case c = sizes;
    vary(c);
    const Problem p = problem_of(type_, c);
    const Operands operands(p, 1 + byte_size(type_), 3);
    const Bytes packed = compute(p, operands, target_, one_thread_, true);
    const Bytes as_it_lies = compute(p, operands, target_, one_thread_, false);
    EXPECT_EQ(std::memcmp(packed.data(), as_it_lies.data(), Operands::bytes_of(p, p.m * p.n)), 0) << c;
  }
}

}  // namespace
}  // namespace binet::kernels::gemm
