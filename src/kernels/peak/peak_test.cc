#include "kernels/peak/peak.h"

#include <gtest/gtest.h>

#include "base/aligned_buffer.h"

namespace binet::kernels::peak {
namespace {

TEST(Peak, CountsOperations) {
  for (const Target& target : supported_targets()) {
    const double f32 = multiply_add(ElementType::f32, 10, target);
    const double f64 = multiply_add(ElementType::f64, 10, target);
    EXPECT_TRUE(f32 == f64 || f32 == 2 * f64) << target.name;  // as many lanes, or twice as many
    EXPECT_EQ(multiply_add(ElementType::f32, 30, target), 3 * f32);
  }
}

TEST(Peak, CountsOperationsOfMatrixRegisters) {
  for (const Target& target : supported_targets()) {
    for (const ElementType type : {ElementType::bf16, ElementType::i32, ElementType::u64}) {
      const double once = multiply_on_matrix_registers(type, 10, target);
      EXPECT_EQ(once > 0, has_amx(target)) << target.name;
      EXPECT_EQ(multiply_on_matrix_registers(type, 30, target), 3 * once);
    }
    EXPECT_EQ(multiply_on_matrix_registers(ElementType::f32, 10, target), 0);
  }
}

TEST(Peak, ReadsEveryByte) {
  constexpr std::size_t kBytes = 1000;
  const AlignedBuffer memory(kBytes);
  for (const Target& target : supported_targets()) {
    std::fill_n(memory.data(), kBytes, std::byte{0});
    EXPECT_EQ(read({memory.data(), kBytes}, target), 0u);
    for (std::size_t i = 0; i < kBytes; ++i) {
      memory.data()[i] = std::byte{1};
      EXPECT_NE(read({memory.data(), kBytes}, target), 0u) << target.name << ", byte " << i;
      memory.data()[i] = std::byte{0};
    }
  }
}

}  // namespace
}  // namespace binet::kernels::peak
