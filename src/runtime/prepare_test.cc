// What depends on constants alone: folded, packed, shared, limited.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/target.h"
#include "binet/error.h"
#include "runtime/loaded_model.h"
#include "runtime/runtime_testing.h"

namespace binet {
namespace {

using onnx::testing::ModelBuilder;
using onnx::testing::raw_tensor;
using testing::floats;
using testing::load;
using testing::message_of;
using testing::values_of;

std::vector<std::string> operations(const Binding& binding) {
  std::vector<std::string> names;
  for (const StepDescription& step : binding.steps()) names.push_back(step.operation);
  return names;
}

/// Y = X (W * S * S): the product of constants is one.
ModelBuilder folding() {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {1, 2})
      .initializer(raw_tensor<float>("W", {2, 2}, {1, 2, 3, 4}))
      .initializer(raw_tensor<float>("S", {2}, {10, 100}))
      .node("Mul", {"W", "S"}, {"a"})
      .node("Mul", {"a", "S"}, {"b"})
      .node("Gemm", {"X", "b"}, {"Y"})
      .output("Y", ElementType::f32, {1, 2});
  return model;
}

TEST(Folding, ConstantsOfConstantsAreComputedOnce) {
  const Session session(load(folding()));
  Binding binding = session.bind({{"X", floats({1, 2}, {1, 1})}});
  EXPECT_EQ(operations(binding), std::vector<std::string>{"Gemm-13"});
  binding.run();
  EXPECT_EQ(values_of(binding.outputs()[0]), (std::vector<float>{400, 60000}));
}

TEST(Folding, AFoldedOutputOfTheGraphIsThere) {
  ModelBuilder model = folding();
  model.output("a", ElementType::f32, {2, 2});
  const Session session(load(model));
  const NamedTensors outputs = session.run({{"X", floats({1, 2}, {1, 1})}});
  EXPECT_EQ(values_of(outputs["a"]), (std::vector<float>{10, 200, 30, 400}));
  EXPECT_EQ(values_of(outputs["Y"]), (std::vector<float>{400, 60000}));
}

TEST(Folding, ADefaultThatIsReplacedIsNotFolded) {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {2})
      .input("S", ElementType::f32, {2})
      .initializer(raw_tensor<float>("W", {2}, {1, 2}))
      .initializer(raw_tensor<float>("S", {2}, {10, 100}))
      .node("Mul", {"W", "S"}, {"a"})
      .node("Mul", {"X", "a"}, {"Y"})
      .output("Y", ElementType::f32, {2});
  const Session session(load(model));
  const Tensor x = floats({2}, {1, 1});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(values_of(session.run({{"X", x}})[0]), (std::vector<float>{10, 200}));
    EXPECT_EQ(values_of(session.run({{"X", x}, {"S", floats({2}, {3, 4})}})[0]), (std::vector<float>{3, 8}));
  }
}

TEST(Folding, ABroadcastThatBlowsAConstantUpIsNotFolded) {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {500, 500})
      .initializer(raw_tensor<float>("R", {1, 500}, std::vector<float>(500, 2)))
      .initializer(raw_tensor<float>("C", {500, 1}, std::vector<float>(500, 3)))
      .node("Mul", {"R", "C"}, {"outer"})
      .node("Mul", {"X", "outer"}, {"Y"})
      .output("Y", ElementType::f32, {500, 500});
  const Session session(load(model));
  Binding binding = session.bind({{"X", Tensor::allocate(ElementType::f32, {500, 500})}});
  EXPECT_EQ(operations(binding), (std::vector<std::string>{"Mul-14", "Mul-14"}));
}

TEST(Folding, AWholeGraphOfConstantsRuns) {
  ModelBuilder model(14);
  model.initializer(raw_tensor<float>("W", {2}, {3, 4}))
      .node("Mul", {"W", "W"}, {"Y"})
      .output("Y", ElementType::f32, {2});
  EXPECT_EQ(values_of(Session(load(model)).run({})[0]), (std::vector<float>{9, 16}));
}

/// A Gemm whose packed B is the largest thing about it.
ModelBuilder weights() {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {-1, 64})
      .initializer(raw_tensor<float>("W", {64, 64}, std::vector<float>(64 * 64, 0.5f)))
      .node("Gemm", {"X", "W"}, {"Y"})
      .output("Y", ElementType::f32, {-1, 64});
  return model;
}

TEST(PackedConstants, AreSharedByTheSessionsOfAModelAndGoWithTheLast) {
  const Model model = load(weights());
  const std::shared_ptr<const LoadedModel> inside = Model::Access::inside(model);
  const Tensor x = Tensor::allocate(ElementType::f32, {1, 64});
  const auto packed = [&](const Session& session) {
    static_cast<void>(session.run({{"X", x}}));
    std::vector<std::shared_ptr<const std::byte>> forms;
    inside->constants.for_each_form([&](const auto& form) { forms.push_back(form); });
    return forms;
  };
  const std::byte* first = nullptr;
  {
    const Session one(model);
    const auto forms = packed(one);
    ASSERT_EQ(forms.size(), 1u);
    first = forms[0].get();
    const Session two(model);
    const auto same = packed(two);
    ASSERT_EQ(same.size(), 1u);
    EXPECT_EQ(same[0].get(), first);
    // Other extents of the same session use it too.
    static_cast<void>(two.run({{"X", Tensor::allocate(ElementType::f32, {7, 64})}}));
    EXPECT_EQ(packed(two).size(), 1u);
  }
  std::size_t left = 0;
  inside->constants.for_each_form([&](const auto&) { ++left; });
  EXPECT_EQ(left, 0u);
}

/// Few columns of B are packed in one form for an A that lies row by row, and in another for a transposed one.
TEST(PackedConstants, DependOnTheLayoutOfA) {
  std::vector<float> w(64 * 3);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 3);
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {2, 64})
      .input("T", ElementType::f32, {64, 2})
      .initializer(raw_tensor<float>("W", {64, 3}, w))
      .node("Gemm", {"X", "W"}, {"Y"})
      .node("Gemm", {"T", "W"}, {"Z"}, {onnx::testing::integer_attribute("transA", 1)})
      .output("Y", ElementType::f32, {2, 3})
      .output("Z", ElementType::f32, {2, 3});
  const std::vector<float> ones(128, 1);
  const Session session(load(model));
  const NamedTensors outputs = session.run({{"X", floats({2, 64}, ones)}, {"T", floats({64, 2}, ones)}});
  EXPECT_EQ(values_of(outputs["Y"]), (std::vector<float>{0, 64, 128, 0, 64, 128}));
  EXPECT_EQ(values_of(outputs["Z"]), (std::vector<float>{0, 64, 128, 0, 64, 128}));
}

/// One row of integers reads a B as it lies where their packed form would take longer, as it is no form of elements.
TEST(PackedConstants, AreMadeForAsManyRowsAsRepayThem) {
  std::vector<std::int32_t> w(64 * 50);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::int32_t>(i % 50);
  ModelBuilder builder(14);
  builder.input("X", ElementType::i32, {-1, 64})
      .initializer(raw_tensor<std::int32_t>("W", {64, 50}, w))
      .node("Gemm", {"X", "W"}, {"Y"})
      .output("Y", ElementType::i32, {-1, 50});
  const Model model = load(builder);
  const std::shared_ptr<const LoadedModel> inside = Model::Access::inside(model);
  const bool has_another_form = default_target().name == "amx" || default_target().name == "avx512dl";
  const auto forms_for = [&](std::int64_t rows) {
    const Session session(model);
    Tensor x = Tensor::allocate(ElementType::i32, {rows, 64});
    std::ranges::fill(x.mutable_values<std::int32_t>(), -3);
    const Tensor y = session.run({{"X", x}})[0];
    std::int32_t column = 0;
    for (const std::int32_t value : y.values<std::int32_t>()) EXPECT_EQ(value, column++ % 50 * -3 * 64);
    EXPECT_EQ(column, rows * 50);
    std::size_t forms = 0;
    inside->constants.for_each_form([&](const auto&) { ++forms; });
    return forms;
  };
  EXPECT_EQ(forms_for(1), has_another_form ? 0u : 1u);
  EXPECT_EQ(forms_for(40), 1u);
}

TEST(Limits, AreRefusedWithWhatTheyAllow) {
  const Model model = load(weights());
  const Tensor x = Tensor::allocate(ElementType::f32, {100, 64});
  const auto run_with = [&](SessionOptions options) {
    return message_of([&] { static_cast<void>(Session(model, options).run({{"X", x}})); });
  };
  EXPECT_EQ(run_with({}), "accepted");
  EXPECT_EQ(run_with({.max_tensor_bytes = 25600}), "accepted");
  EXPECT_EQ(run_with({.max_tensor_bytes = 25599}), "m.onnx: input 'X' has 25600 bytes; max_tensor_bytes allows 25599");
  EXPECT_EQ(run_with({.max_memory_bytes = 1 << 20}), "accepted");
  EXPECT_EQ(run_with({.max_memory_bytes = 1000}),
            "m.onnx: node 0 (Gemm-13): packed constants need 16384 bytes, 16384 with what is needed already; "
            "max_memory_bytes allows 1000");
  const std::string outputs = run_with({.max_memory_bytes = 17000});
  EXPECT_TRUE(outputs.starts_with("m.onnx: the ")) << outputs;
  EXPECT_TRUE(outputs.ends_with("max_memory_bytes allows 17000")) << outputs;
}

TEST(Limits, HoldForValuesInBetween) {
  ModelBuilder model(14);
  model.input("R", ElementType::f32, {1, 100}).input("C", ElementType::f32, {100, 1});
  model.initializer(raw_tensor<float>("V", {100, 1}, std::vector<float>(100, 1)));
  model.node("Mul", {"R", "C"}, {"outer"}).node("Gemm", {"outer", "V"}, {"Y"});
  model.output("Y", ElementType::f32, {100, 1});
  const std::string message = message_of([&] { static_cast<void>(Session(load(model), {.max_tensor_bytes = 1000})); });
  EXPECT_EQ(message, "m.onnx: node 0 (Mul-14): the result has 40000 bytes; max_tensor_bytes allows 1000");
}

}  // namespace
}  // namespace binet
