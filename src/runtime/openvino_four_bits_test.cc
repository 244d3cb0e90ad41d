// Elements of four bits: how they wrap, where the last half byte lies, and weights that are stored so.
#include <gtest/gtest.h>

#include "runtime/openvino_testing.h"

namespace binet::openvino::testing {
namespace {

Tensor four_bits(ElementType type, const Shape& shape, const std::vector<int>& values) {
  Tensor tensor = Tensor::allocate(type, shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.mutable_bytes()[i / 2] |= static_cast<std::byte>((values[i] & 0xF) << (i % 2 == 0 ? 0 : 4));
  }
  return tensor;
}

TEST(FourBits, MultiplyAndAddWrapModulo16) {
  std::vector<int> all(256);
  std::vector<int> other(256);
  std::vector<int> products(256);
  std::vector<int> sums(256);
  for (int i = 0; i < 256; ++i) {
    const auto place = static_cast<std::size_t>(i);
    all[place] = i % 16;
    other[place] = i / 16;
    products[place] = all[place] * other[place];
    sums[place] = all[place] + other[place];
  }
  for (const ElementType type : {ElementType::i4, ElementType::u4}) {
    const Tensor a = four_bits(type, {256}, all);
    const Tensor b = four_bits(type, {256}, other);
    EXPECT_TRUE(same_bits(run_binary("Multiply", "", a, b), four_bits(type, {256}, products))) << to_string(type);
    EXPECT_TRUE(same_bits(run_binary("Add", "", a, b), four_bits(type, {256}, sums))) << to_string(type);
  }
}

TEST(FourBits, BroadcastOverOddExtents) {
  // (3,1) * (5): 15 elements in 8 bytes, of which the last half is 0.
  const Tensor a = four_bits(ElementType::i4, {3, 1}, {1, -2, 3});
  const Tensor b = four_bits(ElementType::i4, {5}, {1, 2, 3, -4, 5});
  std::vector<int> products;
  for (const int x : {1, -2, 3}) {
    for (const int y : {1, 2, 3, -4, 5}) products.push_back(x * y);
  }
  const Tensor y = run_binary("Multiply", "", a, b);
  EXPECT_EQ(y.size_bytes(), 8u);
  EXPECT_TRUE(same_bits(y, four_bits(ElementType::i4, {3, 5}, products)));
  const Tensor empty =
      run_binary("Multiply", "", four_bits(ElementType::u4, {0}, {}), four_bits(ElementType::u4, {1}, {3}));
  EXPECT_EQ(empty.size_bytes(), 0u);
  EXPECT_TRUE(
      same_bits(run_binary("Multiply", "", four_bits(ElementType::u4, {}, {5}), four_bits(ElementType::u4, {}, {5})),
                four_bits(ElementType::u4, {}, {9})));
}

/// Weights of four bits, widened and scaled: how compressed models store them.
TEST(FourBits, AreDecompressedByConvertAndMultiply) {
  IrBuilder model;
  model.parameter("x", "f32", "1,3")
      .constant("w", four_bits(ElementType::u4, {2, 3}, {1, 2, 3, 13, 14, 15}))
      .constant("scale", Tensor::from<float>({2, 1}, {1, 0.5f}))
      .layer("wide", "Convert", R"(destination_type="f32")", {"w"})
      .layer("scaled", "Multiply", "", {"wide", "scale"})
      .layer("y", "MatMul", R"(transpose_a="false" transpose_b="true")", {"x", "scaled"})
      .result("y");
  const NamedTensors inputs = {{"x", Tensor::from<float>({1, 3}, {1, 1, 2})}};
  EXPECT_EQ(values_of<float>(run(model, inputs)["y"]), (std::vector<float>{9, 28.5f}));
  EXPECT_EQ(Session(load(model)).bind(inputs).steps().size(), 1u)
      << "all but the MatMul is done when the session is made";
}

}  // namespace
}  // namespace binet::openvino::testing
