// Whole OpenVINO models: what an exporter writes, inputs with bounds, ports, results.
#include <gtest/gtest.h>

#include "runtime/openvino_testing.h"

namespace binet::openvino::testing {
namespace {

/// What an exporter writes for 0.5 * X * W' + 2 * C.
TEST(OpenvinoModels, RunAnExportedGemm) {
  IrBuilder model;
  model.parameter("input_layer", "f32", "?,3", "x")
      .constant("w", Tensor::from<float>({2, 3}, {1, 2, 3, 4, 5, 6}))
      .constant("alpha", Tensor::from<float>({1, 1}, {0.5f}))
      .constant("c", Tensor::from<float>({2}, {10, 20}))
      .constant("beta", Tensor::from<float>({}, {2}))
      .layer("product", "MatMul", transposes(false, true), {"input_layer", "w"})
      .layer("scaled", "Multiply", R"(auto_broadcast="numpy")", {"product", "alpha"})
      .layer("bias", "Multiply", R"(auto_broadcast="numpy")", {"c", "beta"})
      .layer("sum", "Add", R"(auto_broadcast="numpy")", {"scaled", "bias"}, "y")
      .result("sum");
  const Session session(load(model));
  for (std::int64_t batch = 1; batch < 4; ++batch) {
    const std::vector<float> x(static_cast<std::size_t>(batch) * 3, 2.0f);
    const NamedTensors outputs = session.run({{"x", Tensor::from({batch, 3}, std::span(x))}});
    EXPECT_EQ(outputs["y"].shape(), (Shape{batch, 2}));
    EXPECT_EQ(outputs["y"].values<float>()[0], 26);
    EXPECT_EQ(outputs["y"].values<float>()[1], 55);
  }
}

TEST(OpenvinoModels, KeepInputsWithinTheirBounds) {
  IrBuilder model;
  model.parameter("x", "f32", "2..4,?").result("x");
  EXPECT_EQ(to_string(load(model).inputs()[0].shape), "(2..4, ?)");
  const Session session(load(model));
  const auto message = [&](const Shape& shape) {
    return message_of([&] { static_cast<void>(session.run({{"x", Tensor::allocate(ElementType::f32, shape)}})); });
  };
  EXPECT_EQ(message({2, 9}), "accepted");
  EXPECT_EQ(message({4, 0}), "accepted");
  EXPECT_EQ(message({1, 9}), "m.xml: input 'x' has shape (1, 9); its extent 0 must be 2 to 4");
  EXPECT_EQ(message({5, 9}), "m.xml: input 'x' has shape (5, 9); its extent 0 must be 2 to 4");
}

TEST(OpenvinoModels, TakeInputsOfUnknownRank) {
  IrBuilder model;
  model.parameter("x", "f32", "...").layer("y", "Add", "", {"x", "x"}).result("y");
  EXPECT_EQ(run(model, {{"x", Tensor::from<float>({1, 2}, {1, 2})}})["y"].shape(), (Shape{1, 2}));
}

TEST(OpenvinoModels, CheckWhatPortsDeclare) {
  const IrBuilder model =
      binary("Multiply", "", Tensor::allocate(ElementType::f32, {2, 3}), Tensor::allocate(ElementType::f32, {3}));
  const auto message = [&](const std::string& port) {
    std::string xml = model.xml();
    const std::string plain = R"(<port id="2" names=""/>)";
    xml.replace(xml.find(plain), plain.size(), port);
    return message_of([&] { static_cast<void>(load_openvino_model(xml, {}, "m.xml")); });
  };
  EXPECT_EQ(message(R"(<port id="2" precision="FP32"><dim>2</dim><dim>-1</dim></port>)"), "accepted");
  EXPECT_EQ(message(R"(<port id="2" precision="FP16"/>)"),
            "m.xml: node 'y' (Multiply-1): output 'y' is declared as f16, but is f32");
  EXPECT_EQ(message(R"(<port id="2"><dim>2</dim><dim>4</dim></port>)"),
            "m.xml: node 'y' (Multiply-1): output 'y' is declared with shape (2, 4), but has (2, 3)");
}

TEST(OpenvinoModels, NameTheLayersThatAreKnown) {
  const Tensor a = Tensor::allocate(ElementType::f32, {2});
  const std::string message = message_of([&] { static_cast<void>(run_binary("Subtract", "", a, a)); });
  EXPECT_NE(
      message.find("m.xml: node 'y': operator 'Subtract' is not supported; supported are Multiply MatMul Add Convert"),
      std::string::npos)
      << message;
}

TEST(OpenvinoModels, ShareOneValueAmongResults) {
  IrBuilder model;
  model.parameter("x", "i64", "2").result("x").layer("y", "Multiply", "", {"x", "x"}).result("y").result("y");
  const NamedTensors outputs = run(model, {{"x", Tensor::from<std::int64_t>({2}, {3, -4})}});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(values_of<std::int64_t>(outputs[0]), (std::vector<std::int64_t>{3, -4}));
  EXPECT_EQ(values_of<std::int64_t>(outputs[1]), (std::vector<std::int64_t>{9, 16}));
  EXPECT_EQ(values_of<std::int64_t>(outputs[2]), (std::vector<std::int64_t>{9, 16}));
}

}  // namespace
}  // namespace binet::openvino::testing
