// Add and Convert.
#include <gtest/gtest.h>

#include "runtime/openvino_testing.h"

namespace binet::openvino::testing {
namespace {

TEST(Add, BroadcastsAsMultiplyDoes) {
  const Tensor a = Tensor::from<std::uint8_t>({2, 2}, {250, 1, 2, 3});
  const Tensor b = Tensor::from<std::uint8_t>({2}, {10, 20});
  EXPECT_EQ(values_of<std::uint8_t>(run_binary("Add", "", a, b)), (std::vector<std::uint8_t>{4, 21, 12, 23}));
  EXPECT_EQ(values_of<std::uint8_t>(run_binary("Add", R"(auto_broadcast="pdpd" axis="0")", a, b)),
            (std::vector<std::uint8_t>{4, 11, 22, 23}));
}

IrBuilder conversion(const std::string& from, const std::string& data) {
  IrBuilder model;
  model.parameter("x", from, "?").layer("y", "Convert", data, {"x"}).result("y");
  return model;
}

TEST(Convert, MakesTheDestinationType) {
  const Tensor x = Tensor::from<float>({4}, {1.9f, -1.9f, 300, -300});
  const Tensor y = run(conversion("f32", R"(destination_type="i8")"), {{"x", x}})["y"];
  EXPECT_EQ(values_of<std::int8_t>(y), (std::vector<std::int8_t>{1, -1, 127, -128}));
}

TEST(Convert, SaysWhatItDoesNotTake) {
  const auto message = [](const std::string& from, const std::string& data) {
    return message_of([&] { static_cast<void>(load(conversion(from, data))); });
  };
  EXPECT_NE(message("f32", "").find("attribute destination_type is missing"), std::string::npos);
  EXPECT_NE(message("f32", R"(destination_type="f12")").find("destination_type is 'f12'; it must be one of f16"),
            std::string::npos);
  EXPECT_NE(message("f32", R"(destination_type="string")").find("it must be one of"), std::string::npos);
  EXPECT_NE(message("boolean", R"(destination_type="f32")").find("Convert-1 allows"), std::string::npos);
}

}  // namespace
}  // namespace binet::openvino::testing
