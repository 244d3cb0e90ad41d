#include "graph/bind.h"

#include <gtest/gtest.h>

#include "binet/error.h"

namespace binet {
namespace {

using Dims = std::vector<Dimension>;

Dimension extent(std::int64_t value) { return {value, ""}; }
Dimension symbol(const std::string& name) { return {std::nullopt, name}; }

ValueInfo value(const std::string& name, ElementType type, Dims shape) { return {name, type, std::move(shape)}; }

Node node(const std::string& op_type, std::vector<std::string> inputs, std::vector<std::string> outputs,
          std::vector<Attribute> attributes = {}) {
  return {"", "ai.onnx", op_type, std::move(inputs), std::move(outputs), std::move(attributes)};
}

/// Y = X * W with an initializer W.
Graph scale(std::int64_t opset = 14) {
  Graph graph;
  graph.file = "m.onnx";
  graph.format = "ONNX";
  graph.opset_imports = {{"ai.onnx", opset}};
  graph.inputs = {value("X", ElementType::f32, {symbol("N"), extent(3)})};
  graph.initializers = {{"W", Tensor::from<float>({3}, {1, 2, 3})}};
  graph.nodes = {node("Mul", {"X", "W"}, {"Y"})};
  graph.outputs = {value("Y", ElementType::f32, {symbol("N"), extent(3)})};
  return graph;
}

BoundGraph bind_strictly(const Graph& graph) {
  Findings findings;
  return bind(graph, findings);
}

std::string message_of(const Graph& graph) {
  try {
    static_cast<void>(bind_strictly(graph));
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Bind, ResolvesNamesVersionsAndShapes) {
  const BoundGraph bound = bind_strictly(scale());
  ASSERT_EQ(bound.nodes.size(), 1u);
  EXPECT_EQ(bound.nodes[0].version->since_version, 14);
  EXPECT_EQ(bound.nodes[0].label, "m.onnx: node 0 (Mul-14)");
  const BoundValue& output = bound.values[bound.outputs[0]];
  EXPECT_EQ(output.name, "Y");
  ASSERT_TRUE(output.type.shape.has_value());
  EXPECT_TRUE(is_symbol((*output.type.shape)[0]));
  EXPECT_EQ((*output.type.shape)[1], 3);
}

TEST(Bind, SelectsTheNewestVersionNotAboveTheOpset) {
  const std::vector<std::pair<std::int64_t, int>> expected = {{6, 6},   {7, 7},   {8, 7},   {12, 7},
                                                              {13, 13}, {14, 14}, {21, 14}, {26, 14}};
  for (const auto& [opset, since] : expected) {
    Graph graph = scale(opset);
    if (opset < 7) graph.nodes[0].attributes = {{"broadcast", std::int64_t{1}}};
    EXPECT_EQ(bind_strictly(graph).nodes[0].version->since_version, since) << opset;
  }
}

struct BadCase {
  std::string what;
  Graph graph;
  std::string expected;  ///< a part of the message
};

std::vector<BadCase> bad_cases() {
  std::vector<BadCase> cases;
  const auto add = [&](const std::string& what, const std::string& expected, auto&& change, std::int64_t opset = 14) {
    cases.push_back({what, scale(opset), expected});
    change(cases.back().graph);
  };
  add("no import", "no operator set is imported", [](Graph& g) { g.opset_imports.clear(); });
  add("opset 0", "versions 1 to 26 are known", [](Graph& g) { g.opset_imports[0].version = 0; });
  add("opset 27", "versions 1 to 26 are known", [](Graph& g) { g.opset_imports[0].version = 27; });
  add("imported twice", "as version 14 and as 13", [](Graph& g) { g.opset_imports.push_back({"ai.onnx", 13}); });
  add("unknown operator", "did you mean Mul?", [](Graph& g) { g.nodes[0].op_type = "mul"; });
  add("no operator", "has no operator", [](Graph& g) { g.nodes[0].op_type = ""; });
  add("unknown domain", "'com.x' is not imported", [](Graph& g) { g.nodes[0].domain = "com.x"; });
  add("undefined input", "input 'Q' is not defined", [](Graph& g) { g.nodes[0].inputs[1] = "Q"; });
  add("near name", "did you mean 'X'?", [](Graph& g) {
    g.inputs[0].name = "weights", g.initializers[0].name = "X1", g.nodes[0].inputs = {"X1", "weight"};
  });
  cases.back().expected = "did you mean 'weights'?";
  add("missing input", "input B is missing", [](Graph& g) { g.nodes[0].inputs.pop_back(); });
  add("too many inputs", "3 inputs are given; Mul-14 takes 2", [](Graph& g) { g.nodes[0].inputs.push_back("X"); });
  add("no output", "0 outputs are given", [](Graph& g) { g.nodes[0].outputs.clear(); });
  add("two outputs", "2 outputs are given", [](Graph& g) { g.nodes[0].outputs.push_back("Z"); });
  add("cycle", "used before it is made", [](Graph& g) { g.nodes[0].inputs[1] = "Y"; });
  add("output hides input", "output 'X' is defined already", [](Graph& g) { g.nodes[0].outputs[0] = "X"; });
  add("initializer twice", "'W' is defined twice", [](Graph& g) { g.initializers.push_back(g.initializers[0]); });
  add("input twice", "'X' is defined twice", [](Graph& g) { g.inputs.push_back(g.inputs[0]); });
  add("output never made", "'Z' is never made", [](Graph& g) { g.outputs[0].name = "Z"; });
  add("input without type", "no element type", [](Graph& g) { g.inputs[0].type.reset(); });
  add("negative extent", "negative extent, -2", [](Graph& g) { g.inputs[0].shape = Dims{extent(-2)}; });
  add("unknown attribute", "'axis' is not one of Mul-14; it has none; Mul-6 was the last to have it", [](Graph& g) {
    g.nodes[0].attributes = {{"axis", std::int64_t{1}}};
  });
  add(
      "attribute of another kind", "attribute axis is of kind float; it must be int",
      [](Graph& g) {
        g.nodes[0].attributes = {{"axis", 1.0f}};
      },
      6);
  add(
      "attribute twice", "attribute axis is given twice",
      [](Graph& g) {
        g.nodes[0].attributes = {{"axis", std::int64_t{1}}, {"axis", std::int64_t{1}}};
      },
      6);
  add("types differ", "input A has type f64, and input B has f32",
      [](Graph& g) { g.inputs[0].type = ElementType::f64, g.outputs[0].type = ElementType::f64; });
  add(
      "type of a later version", "Mul-13 is the first to allow bf16",
      [](Graph& g) { g.inputs[0].type = ElementType::bf16; }, 7);
  add("type of no version", "no version allows bool", [](Graph& g) { g.inputs[0].type = ElementType::boolean; });
  add("shapes", "do not broadcast: 4 and 3 meet", [](Graph& g) { g.inputs[0].shape = Dims{extent(4)}; });
  add("declared output shape", "declared with shape (5)", [](Graph& g) { g.outputs[0].shape = Dims{extent(5)}; });
  add("declared output type", "declared as f64, but is f32", [](Graph& g) { g.outputs[0].type = ElementType::f64; });
  add("declared value", "declared with shape (7)",
      [](Graph& g) { g.values = {value("Y", ElementType::f32, {extent(7)})}; });
  add("initializer against input", "'W' is declared as f32, but the input of that name is f64",
      [](Graph& g) { g.inputs.push_back(value("W", ElementType::f64, {extent(3)})); });
  return cases;
}

TEST(Bind, RefusesWhatBreaksARule) {
  for (const BadCase& c : bad_cases()) {
    const std::string message = message_of(c.graph);
    EXPECT_NE(message.find(c.expected), std::string::npos) << c.what << ": " << message;
    EXPECT_TRUE(message.starts_with("m.onnx: ")) << c.what << ": " << message;
  }
}

TEST(Bind, CollectsAllFindingsAndDoesNotBlameWhatFollows) {
  Graph graph = scale();
  graph.nodes = {node("Mul", {"X", "Q"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Mul", {"b", "W"}, {"Y"}),
                 node("Mul", {"X", "W"}, {"c"}, {{"axis", std::int64_t{0}}, {"gamma", 1.0f}})};
  std::vector<std::string> messages;
  Findings findings(messages);
  static_cast<void>(bind(graph, findings));
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_NE(messages[0].find("'Q' is not defined"), std::string::npos);
  EXPECT_NE(messages[1].find("'Relu' is not supported"), std::string::npos);
  EXPECT_NE(messages[2].find("'axis'"), std::string::npos);
  EXPECT_NE(messages[3].find("'gamma'"), std::string::npos);
}

TEST(Bind, OptionalInputsMayBeLeftOutByAnEmptyNameOrAltogether) {
  for (const std::vector<std::string>& inputs :
       std::vector<std::vector<std::string>>{{"A", "B"}, {"A", "B", ""}, {"A", "B", "", ""}}) {
    Graph graph = scale(13);
    graph.inputs = {value("A", ElementType::f32, {extent(2), extent(3)}),
                    value("B", ElementType::f32, {extent(3), extent(4)})};
    graph.nodes = {node("Gemm", inputs, {"Y", ""})};
    graph.outputs = {value("Y", ElementType::f32, {extent(2), extent(4)})};
    EXPECT_EQ(bind_strictly(graph).nodes[0].inputs[2], kLeftOut);
  }
}

TEST(Bind, ConstantNodesBecomeConstants) {
  Graph graph = scale();
  graph.initializers.clear();
  graph.nodes.insert(graph.nodes.begin(), node("Constant", {}, {"W"}, {{"value_floats", std::vector<float>{1, 2, 3}}}));
  const BoundGraph bound = bind_strictly(graph);
  EXPECT_EQ(bound.nodes.size(), 1u);
  const BoundValue& constant = bound.values[bound.nodes[0].inputs[1]];
  ASSERT_TRUE(constant.constant.has_value());
  EXPECT_EQ(constant.constant->shape(), (Shape{3}));
}

}  // namespace
}  // namespace binet
