#include "binet/session.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "binet/error.h"
#include "runtime/runtime_testing.h"

namespace binet {
namespace {

using onnx::testing::ModelBuilder;
using testing::floats;
using testing::layer;
using testing::load;
using testing::message_of;
using testing::values_of;

TEST(Session, RunsWithOpenExtentsOneShapeAfterAnother) {
  const Session session(load(layer()));
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t batch = 0; batch < 12; ++batch) {
      std::vector<float> x(static_cast<std::size_t>(batch) * 2, 1.0f);
      const NamedTensors outputs = session.run({{"X", floats({batch, 2}, x)}});
      ASSERT_EQ(outputs.size(), 1u);
      EXPECT_EQ(outputs["Y"].shape(), (Shape{batch, 3}));
      for (std::int64_t row = 0; row < batch; ++row) {
        const float* y = outputs[0].values<float>().data() + row * 3;
        EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{12, 23, 35}));
      }
    }
  }
}

TEST(Session, OneSymbolHasOneValue) {
  ModelBuilder model(14);
  model.input("A", ElementType::f32, {-1}).input("B", ElementType::f32, {-1}).node("Mul", {"A", "B"}, {"Y"});
  model.output("Y", ElementType::f32, {-1});
  const Session session(load(model));
  EXPECT_EQ(values_of(session.run({{"B", floats({2}, {3, 4})}, {"A", floats({2}, {1, 2})}})[0]),
            (std::vector<float>{3, 8}));
  const std::string message = message_of([&] {
    static_cast<void>(session.run({{"A", floats({2}, {1, 2})}, {"B", floats({1}, {3})}}));
  });
  EXPECT_EQ(message, "m.onnx: input 'B' has shape (1); declared is (N), and N is 2 already");
}

TEST(Session, RefusesInputsThatDoNotFit) {
  const Session session(load(layer()));
  const Tensor x = floats({1, 2}, {1, 1});
  const std::vector<std::pair<NamedTensors, std::string>> cases = {
      {{}, "input 'X' is missing"},
      {{{"X", x}, {"X", x}}, "input 'X' is given twice"},
      {{{"X", x}, {"Z", x}}, "there is no input 'Z'"},
      {{{"x", x}}, "did you mean 'X'?"},
      {{{"X", x}, {"W", x}}, "there is no input 'W'"},
      {{{"X", Tensor::from<double>({1, 2}, {1, 1})}}, "has type f64; declared is f32"},
      {{{"X", floats({2}, {1, 1})}}, "of rank 1; declared is (N, 2)"},
      {{{"X", floats({2, 1}, {1, 1})}}, "has shape (2, 1); declared is (N, 2)"},
  };
  for (const auto& [inputs, expected] : cases) {
    const std::string message = message_of([&, &given = inputs] { static_cast<void>(session.run(given)); });
    EXPECT_NE(message.find(expected), std::string::npos) << message;
  }
  EXPECT_EQ(values_of(session.run({{"X", x}})[0]), (std::vector<float>{12, 23, 35}));
}

TEST(Session, ADefaultMayBeReplaced) {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {2, 2}).input("W", ElementType::f32, {2, 2});
  model.initializer(onnx::testing::raw_tensor<float>("W", {2, 2}, {1, 0, 0, 1}));
  model.node("Gemm", {"X", "W"}, {"Y"}).output("Y", ElementType::f32, {2, 2});
  const Session session(load(model));
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const Tensor w = floats({2, 2}, {0, 1, 1, 0});
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(values_of(session.run({{"X", x}})[0]), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(values_of(session.run({{"X", x}, {"W", w}})[0]), (std::vector<float>{2, 1, 4, 3}));
  }
}

TEST(Session, OutputsMayBeInputsConstantsOrSharedValues) {
  ModelBuilder model(14);
  model.input("X", ElementType::f32, {2}).initializer(onnx::testing::raw_tensor<float>("W", {2}, {5, 6}));
  model.node("Mul", {"X", "X"}, {"s"}).node("Mul", {"s", "W"}, {"t"}).node("Mul", {"s", "s"}, {"unused"});
  for (const char* name : {"X", "W", "s", "s", "t"}) model.output(name, ElementType::f32, {2});
  const Session session(load(model));
  NamedTensors outputs = session.run({{"X", floats({2}, {2, 3})}});
  ASSERT_EQ(outputs.size(), 5u);
  EXPECT_EQ(values_of(outputs[0]), (std::vector<float>{2, 3}));
  EXPECT_EQ(values_of(outputs[1]), (std::vector<float>{5, 6}));
  EXPECT_EQ(values_of(outputs[2]), (std::vector<float>{4, 9}));
  EXPECT_EQ(values_of(outputs[3]), (std::vector<float>{4, 9}));
  EXPECT_EQ(values_of(outputs[4]), (std::vector<float>{20, 54}));
}

TEST(Session, OutputsOutliveTheSession) {
  NamedTensors outputs;
  {
    const Session session(load(layer()));
    outputs = session.run({{"X", floats({1, 2}, {1, 1})}});
  }
  EXPECT_EQ(values_of(outputs[0]), (std::vector<float>{12, 23, 35}));
}

TEST(Session, SeveralThreadsMayRunOneSession) {
  const Session session(load(layer()), {.threads = 2});
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 200; ++i) {
        const std::int64_t batch = 1 + (i + static_cast<std::int64_t>(t)) % 10;
        const auto fill = static_cast<float>(t + 1);
        const std::vector<float> x(static_cast<std::size_t>(batch) * 2, fill);
        const NamedTensors outputs = session.run({{"X", floats({batch, 2}, x)}});
        const auto y = outputs[0].values<float>().last(3);
        if (y[0] != 2 * fill + 10 || y[1] != 3 * fill + 20 || y[2] != 5 * fill + 30) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Session, RefusesAResultThatCannotExist) {
  ModelBuilder model(14);
  model.input("A", ElementType::f32, {-1, 1}).input("B", ElementType::f32, {1, -2}).node("Mul", {"A", "B"}, {"h"});
  model.node("Gemm", {"A", "B"}, {"Y"}, {}).output("Y", ElementType::f32, {-1, -2});
  const Session session(load(model));
  // Views of one byte each claim shapes with no elements but huge extents.
  std::byte nothing{};
  const Shape tall = {std::int64_t{1} << 40, 0};
  EXPECT_THROW(
      static_cast<void>(session.run({{"A", Tensor::view(ElementType::f32, tall, &nothing)},
                                     {"B", Tensor::view(ElementType::f32, {0, std::int64_t{1} << 40}, &nothing)}})),
      Error);
}

TEST(LoadModel, FromMemoryRefusesExternalData) {
  std::string tensor;
  protozero::pbf_writer writer(tensor);
  writer.add_int32(onnx::tensor::kDataType, 1);
  writer.add_string(onnx::tensor::kName, "W");
  writer.add_int32(onnx::tensor::kDataLocation, 1);
  std::string entry;
  protozero::pbf_writer(entry).add_string(onnx::string_entry::kKey, "location");
  protozero::pbf_writer(entry).add_string(onnx::string_entry::kValue, "w.bin");
  writer.add_message(onnx::tensor::kExternalData, entry);
  const std::string message = message_of([&] { static_cast<void>(load(ModelBuilder(14).initializer(tensor))); });
  EXPECT_NE(message.find("loaded from memory"), std::string::npos) << message;
}

/// No change of a byte may lead to anything but a model or an Error. Run with a sanitizer this is a small fuzzer.
TEST(LoadModel, ChangedBytesGiveAModelOrAnError) {
  const std::string whole = layer().bytes();
  const Tensor x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  std::uint64_t state = 20261120;
  const auto random = [&] { return (state = state * 6364136223846793005ULL + 1442695040888963407ULL) >> 33; };
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string changed = whole;
    for (std::uint64_t i = 0; i <= random() % 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    try {
      const Session session(load_model(onnx::testing::as_bytes(changed), "m.onnx"), {.threads = 1});
      static_cast<void>(session.run({{"X", x}}));
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace binet
