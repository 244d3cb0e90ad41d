#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/target.h"
#include "binet/error.h"
#include "runtime/runtime_testing.h"

namespace binet {
namespace {

using onnx::testing::ModelBuilder;
using onnx::testing::raw_tensor;
using testing::floats;
using testing::layer;
using testing::load;
using testing::message_of;
using testing::values_of;

TEST(Binding, ReadsTheInputsAnewAtEachRun) {
  const Session session(load(layer()));
  Tensor x = floats({1, 2}, {1, 1});
  Binding binding = session.bind({{"X", x}});
  binding.run();
  EXPECT_EQ(values_of(binding.outputs()["Y"]), (std::vector<float>{12, 23, 35}));
  x.mutable_values<float>()[0] = 2;
  binding.run();
  EXPECT_EQ(values_of(binding.outputs()["Y"]), (std::vector<float>{14, 23, 37}));
}

TEST(Binding, WritesIntoTheGivenOutput) {
  const Session session(load(layer()));
  // The smallest alignment there is: kernels promise to work with any.
  std::vector<std::byte> bytes(1 + 2 * 3 * sizeof(float));
  const Tensor y = Tensor::view(ElementType::f32, {2, 3}, bytes.data() + 1);
  Binding binding = session.bind({{"X", floats({2, 2}, {1, 1, 0, 0})}}, {{"Y", y}});
  binding.run();
  std::vector<float> values(6);
  std::memcpy(values.data(), bytes.data() + 1, bytes.size() - 1);
  EXPECT_EQ(values, (std::vector<float>{12, 23, 35, 10, 20, 30}));
}

TEST(Binding, OutlivesItsSessionAndTheTensorsOfTheCaller) {
  std::optional<Binding> binding;
  {
    const Session session(load(layer()));
    binding.emplace(session.bind({{"X", floats({1, 2}, {1, 1})}}));
  }
  binding->run();
  EXPECT_EQ(values_of(binding->outputs()[0]), (std::vector<float>{12, 23, 35}));
}

TEST(Binding, RefusesWhatDoesNotFit) {
  const Session session(load(layer()));
  const Tensor x = floats({1, 2}, {1, 1});
  Tensor y = floats({1, 3}, {0, 0, 0});
  const Tensor part = Tensor::view(ElementType::f32, {1, 2}, y.mutable_bytes().data() + 4);
  const float fixed[3] = {};
  const std::vector<std::tuple<NamedTensors, NamedTensors, std::string>> cases = {
      {{}, {}, "input 'X' is missing"},
      {{{"X", x}}, {{"Z", y}}, "there is no output 'Z'"},
      {{{"X", x}}, {{"Y", y}, {"Y", y}}, "output 'Y' is given twice"},
      {{{"X", x}}, {{"Y", floats({1, 2}, {0, 0})}}, "output 'Y' is given as f32 (1, 2); it must be f32 (1, 3)"},
      {{{"X", part}}, {{"Y", y}}, "output 'Y' overlaps input 'X'"},
      {{{"X", x}}, {{"Y", Tensor::view(ElementType::f32, {1, 3}, &fixed)}}, "read-only"},
  };
  for (const auto& [inputs, outputs, expected] : cases) {
    const std::string message =
        message_of([&, &in = inputs, &out = outputs] { static_cast<void>(session.bind(in, out)); });
    EXPECT_NE(message.find(expected), std::string::npos) << message << "; expected: " << expected;
  }
}

TEST(Binding, SeveralRunAtTheSameTime) {
  const Session session(load(layer()));
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto fill = static_cast<float>(t);
      Binding binding = session.bind({{"X", floats({1, 2}, {fill, fill})}});
      for (int i = 0; i < 500; ++i) {
        binding.run();
        const std::vector<float> expected = {2 * fill + 10, 3 * fill + 20, 5 * fill + 30};
        if (values_of(binding.outputs()[0]) != expected) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

/// Large enough that kernels use several threads.
ModelBuilder large_layer() {
  std::vector<float> weights(256 * 300);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 17) * 0.37f - 2.0f;
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {-1, 256})
      .initializer(raw_tensor<float>("W", {256, 300}, weights))
      .node("Gemm", {"X", "W"}, {"h"})
      .node("Mul", {"h", "h"}, {"Y"})
      .output("Y", ElementType::f32, {-1, 300});
  return model;
}

TEST(Binding, ManyThreadsOnOneSessionGiveTheBitsOfOneThread) {
  const Model model = load(large_layer());
  std::vector<float> x(150 * 256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 23) * 0.11f - 1.0f;
  const Session alone(model, {.threads = 1});
  const NamedTensors expected = alone.run({{"X", floats({150, 256}, x)}});
  const Session session(model, {.threads = 3});
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, 0);
  for (int& count : wrong) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const NamedTensors outputs = session.run({{"X", floats({150, 256}, x)}});
        const auto bytes = outputs[0].bytes();
        if (std::memcmp(bytes.data(), expected[0].bytes().data(), bytes.size()) != 0) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

TEST(Binding, TellsItsStepsAndTheirTimes) {
  const Session session(load(layer()));
  Binding binding = session.bind({{"X", floats({4, 2}, {1, 1, 1, 1, 1, 1, 1, 1})}});
  const std::vector<StepDescription> steps = binding.steps();
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].operation, "Mul-14");
  EXPECT_EQ(steps[0].operations, 8);
  EXPECT_EQ(steps[0].bytes, 4 * (8 + 2 + 8));
  EXPECT_EQ(steps[1].operation, "Gemm-13");
  EXPECT_EQ(steps[1].inputs, (std::vector<std::string>{"f32 (4, 2)", "f32 (2, 3)", "f32 (3)"}));
  EXPECT_EQ(steps[1].output, "f32 (4, 3)");
  EXPECT_EQ(steps[1].operations, 2 * 4 * 2 * 3);
  EXPECT_NE(steps[1].kernel.find(default_target().name), std::string::npos);
  std::vector<std::int64_t> times(2, -1);
  binding.run(times);
  EXPECT_GE(times[0], 0);
  EXPECT_GE(times[1], 0);
  EXPECT_EQ(values_of(binding.outputs()[0])[0], 12);
  EXPECT_THROW(binding.run(std::span(times).first(1)), Error);
}

/// An executor that runs tasks backwards in the calling thread.
class Backwards final : public Executor {
 public:
  [[nodiscard]] int threads() const override { return 4; }
  void run(std::int64_t tasks, TaskRef task) override {
    ++calls;
    while (tasks-- > 0) task(tasks);
  }
  int calls = 0;
};

TEST(Session, UsesTheExecutorOfTheCaller) {
  const Model model = load(large_layer());
  const auto executor = std::make_shared<Backwards>();
  const Session session(model, {.executor = executor});
  const Tensor x = Tensor::allocate(ElementType::f32, {300, 256});
  Tensor ones = x;
  for (float& value : ones.mutable_values<float>()) value = 1;
  const NamedTensors outputs = session.run({{"X", ones}});
  EXPECT_GT(executor->calls, 0);
  const NamedTensors expected = Session(model, {.threads = 1}).run({{"X", ones}});
  EXPECT_EQ(values_of(outputs[0]), values_of(expected[0]));
}

}  // namespace
}  // namespace binet
