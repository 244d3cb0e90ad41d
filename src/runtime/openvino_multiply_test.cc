// Multiply against ONNX's Mul, bit for bit, wherever both have the rule; and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/element_types.h"
#include "formats/onnx/model_builder_testing.h"
#include "runtime/openvino_testing.h"

namespace binet::openvino::testing {
namespace {

Tensor run_mul(std::int64_t opset, const Tensor& a, const Tensor& b, const std::vector<std::string>& attributes) {
  onnx::testing::ModelBuilder model(opset, 3);
  model.input("a", a.type(), a.shape()).input("b", b.type(), b.shape());
  Shape open_shape;  // a symbol for each extent
  while (open_shape.size() < std::max(a.shape().size(), b.shape().size())) {
    open_shape.push_back(-1 - static_cast<std::int64_t>(open_shape.size()));
  }
  model.node("Mul", {"a", "b"}, {"y"}, attributes).output("y", a.type(), open_shape);
  return Session(load_model(onnx::testing::as_bytes(model.bytes()), "m.onnx")).run({{"a", a}, {"b", b}})[0];
}

Shape random_shape(Random& random, std::size_t most_rank) {
  Shape shape(random() % (most_rank + 1));
  for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(random() % 16 == 0 ? 0 : 1 + random() % 6);
  return shape;
}

TEST(Multiply, IsMulWithNumpyBroadcasting) {
  Random random(binet::testing::seed(20260301));
  for (const ElementType type : kernels::elementwise::testing::kTypes) {
    for (int round = 0; round < 40; ++round) {
      Shape a = random_shape(random, 5);
      Shape b(a.end() - static_cast<std::ptrdiff_t>(random() % (a.size() + 1)), a.end());
      for (std::size_t i = 0; i < b.size(); ++i) {
        const std::uint64_t which = random() % 4;
        if (which == 0) b[i] = 1;
        if (which == 1) a[a.size() - b.size() + i] = 1;
      }
      if (round % 2 != 0) std::swap(a, b);
      SCOPED_TRACE(std::string(to_string(type)) + " " + to_string(a) + " " + to_string(b));
      const Tensor x = random_tensor(type, a, random);
      const Tensor y = random_tensor(type, b, random);
      const std::string data = round % 3 == 0 ? "" : R"(auto_broadcast="numpy")";
      EXPECT_TRUE(same_bits(run_binary("Multiply", data, x, y), run_mul(14, x, y, {})));
    }
  }
}

TEST(Multiply, IsMulWithoutBroadcasting) {
  Random random(binet::testing::seed(20260301));
  for (const ElementType type : kernels::elementwise::testing::kTypes) {
    for (int round = 0; round < 10; ++round) {
      const Shape shape = random_shape(random, 4);
      const Tensor x = random_tensor(type, shape, random);
      const Tensor y = random_tensor(type, shape, random);
      EXPECT_TRUE(same_bits(run_binary("Multiply", R"(auto_broadcast="none")", x, y), run_mul(14, x, y, {})))
          << to_string(type) << " " << to_string(shape);
    }
  }
}

/// Mul-6 with broadcast=1 places B at an axis as pdpd does.
TEST(Multiply, IsMul6WithPdpdBroadcasting) {
  Random random(binet::testing::seed(20260301));
  for (const ElementType type : kernels::elementwise::testing::kTypes) {
    if (!(kFloatTypes | kWideIntegerTypes).contains(type)) continue;
    for (int round = 0; round < 30; ++round) {
      const Shape a = random_shape(random, 5);
      const std::size_t rank = random() % (a.size() + 1);
      const std::size_t axis = random() % (a.size() - rank + 1);
      const Shape b(a.begin() + static_cast<std::ptrdiff_t>(axis),
                    a.begin() + static_cast<std::ptrdiff_t>(axis + rank));
      if (axis == a.size()) continue;  // Mul-6 wants an axis of A even for a scalar
      SCOPED_TRACE(std::string(to_string(type)) + " " + to_string(a) + " " + to_string(b));
      const Tensor x = random_tensor(type, a, random);
      const Tensor y = random_tensor(type, b, random);
      const bool at_end = axis + rank == a.size() && round % 2 == 0;
      const std::string data = R"(auto_broadcast="pdpd" auto_broadcast.auto_broadcast_axis=")" +
                               std::to_string(at_end ? -1 : static_cast<int>(axis)) + "\"";
      const std::vector<std::string> attributes = {
          onnx::testing::integer_attribute("broadcast", 1),
          onnx::testing::integer_attribute("axis", static_cast<std::int64_t>(axis))};
      EXPECT_TRUE(same_bits(run_binary("Multiply", data, x, y), run_mul(6, x, y, attributes)));
    }
  }
}

TEST(Multiply, StretchesBWithPdpd) {
  const Tensor a = Tensor::from<std::int32_t>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const Tensor b = Tensor::from<std::int32_t>({2, 1, 1}, {1, 10});
  const Tensor y = run_binary("Multiply", R"(auto_broadcast="pdpd" axis="0")", a, b);
  EXPECT_EQ(values_of<std::int32_t>(y), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 70, 80, 90, 100, 110, 120}));
}

TEST(Multiply, SaysWhatItDoesNotTake) {
  const Tensor a = Tensor::allocate(ElementType::f32, {2, 3});
  const Tensor b = Tensor::allocate(ElementType::f32, {3});
  const auto message = [&](const std::string& data, const Tensor& x, const Tensor& y) {
    return message_of([&] { static_cast<void>(run_binary("Multiply", data, x, y)); });
  };
  EXPECT_NE(message(R"(auto_broadcast="tensorflow")", a, b)
                .find("m.xml: node 'y' (Multiply-1): auto_broadcast is 'tensorflow'; it must be none, numpy or pdpd"),
            std::string::npos);
  EXPECT_NE(message(R"(auto_broadcast="none")", a, b).find("they must be equal"), std::string::npos);
  EXPECT_NE(message(R"(auto_broadcast="numpy" axis="0")", a, b).find("an axis is for pdpd"), std::string::npos);
  EXPECT_NE(message(R"(axis="x")", a, b).find("attribute axis is 'x'; it must be int"), std::string::npos);
  EXPECT_NE(message(R"(axis="0" auto_broadcast_axis="0")", a, b).find("attribute axis is given twice"),
            std::string::npos);
  EXPECT_NE(message(R"(auto_brodcast="none")", a, b).find("did you mean auto_broadcast?"), std::string::npos);
  const Tensor flags = Tensor::allocate(ElementType::boolean, {2});
  EXPECT_NE(message("", flags, flags).find("input A has type bool; Multiply-1 allows f16"), std::string::npos);
  EXPECT_NE(message("", a, Tensor::allocate(ElementType::f64, {3})).find("they must be the same"), std::string::npos);
}

}  // namespace
}  // namespace binet::openvino::testing
