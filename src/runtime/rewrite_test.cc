#include "runtime/rewrite.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "runtime/runtime_testing.h"

namespace binet {
namespace {

using onnx::testing::integer_attribute;
using onnx::testing::ModelBuilder;
using onnx::testing::raw_tensor;
using onnx::testing::real_attribute;

constexpr std::int64_t kM = 3;
constexpr std::int64_t kN = 4;
constexpr std::int64_t kK = 5;

template <class T>
std::vector<T> random_values(std::int64_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>)
      values.push_back(static_cast<T>(random() * 0x9E3779B97F4A7C15ULL));
    else
      values.push_back(static_cast<T>(static_cast<std::int32_t>(random())) / T{1 << 20});
  }
  // Zeros, so that their signs are seen.
  values[0] = T{0};
  return values;
}

struct Case {
  std::vector<std::int64_t> factor_shape;
  double factor = 1;
  std::string c;  ///< "none", "constant", "input"
  float alpha = 1;
  float beta = 1;
  bool trans_b = false;
  bool b_is_constant = true;
  bool is_joined = false;
  bool factor_first = false;
};

template <class T>
Tensor tensor(const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  return Tensor::from<T>(shape, std::span(values));
}

/// The model, with the Gemm's output shown as well or not: shown, it cannot be joined with the Mul.
template <class T>
Model model_of(const Case& c, bool is_shown) {
  const ElementType type = element_type_of<T>;
  const std::vector<std::int64_t> b_shape = c.trans_b ? std::vector<std::int64_t>{kN, kK} : std::vector{kK, kN};
  ModelBuilder model(14);
  model.input("A", type, {-1, kK});
  if (c.b_is_constant)
    model.initializer(raw_tensor("B", b_shape, random_values<T>(kK * kN, 2)));
  else
    model.input("B", type, b_shape);
  if (c.c == "constant") model.initializer(raw_tensor("C", {kN}, random_values<T>(kN, 3)));
  if (c.c == "input") model.input("C", type, {kN});
  std::int64_t elements = 1;
  for (const std::int64_t extent : c.factor_shape) elements *= extent;
  std::vector<T> factor(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < factor.size(); ++i) {
    factor[i] =
        static_cast<T>(static_cast<std::int64_t>(c.factor)) + (std::is_integral_v<T> ? static_cast<T>(i) : T{0});
  }
  if (c.factor != std::trunc(c.factor)) factor.assign(factor.size(), static_cast<T>(c.factor));
  model.initializer(raw_tensor("S", c.factor_shape, factor));
  std::vector<std::string> inputs = {"A", "B"};
  if (c.c != "none") inputs.emplace_back("C");
  model.node(
      "Gemm", inputs, {"g"},
      {real_attribute("alpha", c.alpha), real_attribute("beta", c.beta), integer_attribute("transB", c.trans_b)});
  model.node("Mul", c.factor_first ? std::vector<std::string>{"S", "g"} : std::vector<std::string>{"g", "S"}, {"Y"});
  model.output("Y", type, {-1, kN});
  if (is_shown) model.output("g", type, {-1, kN});
  return testing::load(model);
}

template <class T>
void expect_same_bits(const Case& c) {
  SCOPED_TRACE(::testing::Message() << to_string(element_type_of<T>) << " factor " << c.factor << " rank "
                                    << c.factor_shape.size() << " C " << c.c << " alpha " << c.alpha << " beta "
                                    << c.beta << " transB " << c.trans_b << " constant B " << c.b_is_constant);
  NamedTensors inputs = {{"A", tensor<T>({kM, kK}, random_values<T>(kM * kK, 1))}};
  if (!c.b_is_constant) {
    inputs.add("B", tensor<T>(c.trans_b ? Shape{kN, kK} : Shape{kK, kN}, random_values<T>(kK * kN, 2)));
  }
  if (c.c == "input") inputs.add("C", tensor<T>({kN}, random_values<T>(kN, 3)));
  const Session joined(model_of<T>(c, false));
  const Session apart(model_of<T>(c, true));
  Binding binding = joined.bind(inputs);
  EXPECT_EQ(binding.steps().size(), c.is_joined ? 1u : 2u);
  binding.run();
  const NamedTensors expected = apart.run(inputs);
  const auto bytes = binding.outputs()["Y"].bytes();
  ASSERT_EQ(bytes.size(), expected["Y"].size_bytes());
  EXPECT_EQ(std::memcmp(bytes.data(), expected["Y"].bytes().data(), bytes.size()), 0);
}

TEST(Rewrite, FloatsAreJoinedOnlyWhereNoRoundingMoves) {
  const std::vector<Case> cases = {
      {.factor_shape = {}, .factor = 1, .c = "none", .is_joined = true},
      {.factor_shape = {1}, .factor = 1, .c = "input", .alpha = 0.3f, .beta = 0.7f, .is_joined = true},
      {.factor_shape = {1, 1}, .factor = -1, .c = "none", .alpha = 0.3f, .is_joined = true, .factor_first = true},
      {.factor_shape = {}, .factor = -1, .c = "constant"},
      {.factor_shape = {}, .factor = 2, .c = "none"},
      {.factor_shape = {}, .factor = 0.5, .c = "none"},
      {.factor_shape = {kN}, .factor = 1, .c = "none"},
  };
  for (const Case& c : cases) {
    expect_same_bits<float>(c);
    expect_same_bits<double>(c);
  }
}

TEST(Rewrite, IntegersAreJoinedWhereTheyAreExact) {
  const std::vector<Case> cases = {
      {.factor_shape = {}, .factor = 3, .c = "none", .is_joined = true},
      {.factor_shape = {1},
       .factor = 7,
       .c = "input",
       .alpha = 2,
       .beta = 5,
       .b_is_constant = false,
       .is_joined = true},
      {.factor_shape = {}, .factor = 3, .c = "input", .alpha = 0.5f},
      {.factor_shape = {}, .factor = 3, .c = "input", .beta = 0.5f},
      // Too large for an f32: into the constants, if they are.
      {.factor_shape = {}, .factor = 123456789, .c = "constant", .is_joined = true},
      {.factor_shape = {}, .factor = 123456789, .c = "input"},
      {.factor_shape = {}, .factor = 123456789, .c = "input", .beta = 0, .is_joined = true},
      {.factor_shape = {}, .factor = 123456789, .c = "none", .b_is_constant = false},
      {.factor_shape = {kN}, .factor = 5, .c = "none", .is_joined = true, .factor_first = true},
      {.factor_shape = {1, kN}, .factor = 99, .c = "constant", .alpha = 3, .beta = 2, .is_joined = true},
      {.factor_shape = {kN}, .factor = 99, .c = "constant", .trans_b = true, .is_joined = true},
      {.factor_shape = {kN}, .factor = 99, .c = "input"},
      {.factor_shape = {kN}, .factor = 99, .c = "none", .b_is_constant = false},
  };
  for (const Case& c : cases) {
    expect_same_bits<std::int32_t>(c);
    expect_same_bits<std::uint32_t>(c);
    expect_same_bits<std::int64_t>(c);
    expect_same_bits<std::uint64_t>(c);
  }
}

TEST(Rewrite, AFactorThatAddsADimensionIsNotJoined) {
  ModelBuilder model(14);
  model.input("A", ElementType::f32, {2, 2}).initializer(raw_tensor<float>("S", {1, 1, 1}, {1}));
  model.node("Gemm", {"A", "A"}, {"g"}).node("Mul", {"g", "S"}, {"Y"}).output("Y", ElementType::f32, {1, 2, 2});
  const Session session(testing::load(model));
  EXPECT_EQ(session.run({{"A", testing::floats({2, 2}, {1, 2, 3, 4})}})[0].shape(), (Shape{1, 2, 2}));
}

TEST(Rewrite, AFactorThatAnInputMayReplaceIsNotJoined) {
  ModelBuilder model(14);
  model.input("A", ElementType::f32, {1, 1}).input("S", ElementType::f32, {1});
  model.initializer(raw_tensor<float>("S", {1}, {1}));
  model.node("Gemm", {"A", "A"}, {"g"}).node("Mul", {"g", "S"}, {"Y"}).output("Y", ElementType::f32, {1, 1});
  const Session session(testing::load(model));
  const Tensor a = testing::floats({1, 1}, {3});
  EXPECT_EQ(session.run({{"A", a}})[0].values<float>()[0], 9);
  EXPECT_EQ(session.run({{"A", a}, {"S", testing::floats({1}, {2})}})[0].values<float>()[0], 18);
}

TEST(Rewrite, TheModelIsShownAsTheFileHasIt) {
  const Case c{.factor_shape = {}, .factor = 1, .c = "none"};
  EXPECT_EQ(model_of<float>(c, false).nodes().size(), 2u);
}

}  // namespace
}  // namespace binet
