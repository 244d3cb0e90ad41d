// The reader of OpenVINO models: names and order of what it makes, and one line for each kind of bad file.
#include "formats/openvino/model_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "binet/error.h"
#include "formats/openvino/ir_builder_testing.h"
#include "formats/openvino/shape_text.h"

namespace binet::openvino {
namespace {

using testing::IrBuilder;

Graph read(const std::string& xml, std::span<const std::byte> weights = {}, const OpenVinoLimits& limits = {}) {
  Findings findings;
  return read_model({"m.xml", xml, Weights(weights, std::make_shared<int>()), limits}, findings);
}

std::string message_of(const std::string& xml, std::span<const std::byte> weights = {},
                       const OpenVinoLimits& limits = {}) {
  try {
    static_cast<void>(read(xml, weights, limits));
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Everything that is wrong, as `binet check` lists it.
std::vector<std::string> findings_of(const std::string& xml, std::span<const std::byte> weights = {}) {
  std::vector<std::string> messages;
  Findings findings(messages);
  findings.check([&] {
    static_cast<void>(read_model({"m.xml", xml, Weights(weights, std::make_shared<int>()), {}}, findings));
  });
  return messages;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), with);
}

/// x (2,3) * w (3).
IrBuilder small() {
  IrBuilder model;
  model.parameter("x", "f32", "2,3")
      .constant("w", Tensor::from<float>({3}, {1, 2, 3}))
      .layer("scale", "Multiply", R"(auto_broadcast="numpy")", {"x", "w"})
      .result("scale");
  return model;
}

TEST(Reader, MakesAGraph) {
  const IrBuilder model = small();
  const Graph graph = read(model.xml(), model.weights());
  EXPECT_EQ(graph.format, "OpenVINO IR");
  EXPECT_EQ(graph.ir_version, 11);
  EXPECT_EQ(graph.name, "net");
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.inputs[0].type, ElementType::f32);
  ASSERT_EQ(graph.initializers.size(), 1u);
  EXPECT_EQ(graph.initializers[0].name, "w");
  EXPECT_EQ(graph.initializers[0].value.bytes().data(), model.weights().data());
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].op_type, "Multiply");
  EXPECT_EQ(graph.nodes[0].domain, "opset1");
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(std::get<TextAttribute>(graph.nodes[0].attributes.at(0).value).text, "numpy");
  ASSERT_EQ(graph.outputs.size(), 1u);
  EXPECT_EQ(graph.outputs[0].name, "scale");
}

TEST(Reader, ReadsIrVersion10AndWhatXmlAllows) {
  const IrBuilder model = small();
  EXPECT_EQ(read(replaced(model.xml(), "version=\"11\"", "version=\"10\""), model.weights()).ir_version, 10);
  EXPECT_EQ(message_of("\xEF\xBB\xBF" + model.xml(), model.weights()), "accepted");
  EXPECT_EQ(message_of(replaced(model.xml(), "<edges>", "<!-- <&;> --><edges>"), model.weights()), "accepted");
  EXPECT_EQ(message_of(replaced(model.xml(), "<unknown/>", "<a><![CDATA[<&]]></a>"), model.weights()), "accepted");
  const std::string escaped = replaced(model.xml(), "name=\"net\"", "name=\"a&lt;&#98;&#x63;\"");
  EXPECT_EQ(read(escaped, model.weights()).name, "a<bc");
}

TEST(Reader, TakesTensorNamesBeforeLayerNames) {
  IrBuilder model;
  model.parameter("p0", "f32", "2", R"(a\,b,alias)")
      .parameter("p1", "f32", "2")
      .layer("sum", "Add", "", {"p0", "p1"})
      .layer("product", "Multiply", "", {"sum", "p1"}, "y")
      .result("sum")
      .result("product");
  const Graph graph = read(model.xml());
  EXPECT_EQ(graph.inputs[0].name, "a,b");
  EXPECT_EQ(graph.inputs[1].name, "p1");
  EXPECT_EQ(graph.outputs[0].name, "sum");
  EXPECT_EQ(graph.outputs[1].name, "y");
  const std::string named = replaced(model.xml(), R"(name="result of sum")", R"(name="r" output_names="total")");
  EXPECT_EQ(read(named).outputs[0].name, "total");
}

TEST(Reader, KeepsNamesApart) {
  IrBuilder model;
  model.parameter("x", "f32", "2").layer("s", "Add", "", {"x", "x"}, "x").result("s");
  const Graph graph = read(model.xml());
  EXPECT_EQ(graph.inputs[0].name, "x");
  EXPECT_EQ(graph.outputs[0].name, "x#1");
  // An output of a layer that has several.
  const std::string two = replaced(model.xml(), R"(<port id="2" names="x"/>)", R"(<port id="2"/><port id="3"/>)");
  EXPECT_EQ(read(two).outputs[0].name, "s.0");
}

TEST(Reader, PutsNodesInRunningOrder) {
  const std::string layer = R"(<layer id="{}" name="n{}" type="Add" version="opset1"><input><port id="0"/>)"
                            R"(<port id="1"/></input><output><port id="2"/></output></layer>)";
  std::string layers;
  for (const int id : {3, 1, 2}) layers += fmt::format(fmt::runtime(layer), id, id);
  std::string edges;
  const auto edge = [&](int from, int from_port, int to, int to_port) {
    edges += fmt::format(R"(<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>)", from, from_port, to,
                         to_port);
  };
  for (const int port : {0, 1}) edge(0, 0, 1, port), edge(1, 2, 2, port), edge(2, 2, 3, port);
  edge(3, 2, 4, 0);
  const std::string xml = fmt::format(
      R"(<net version="11"><layers><layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input>)"
      R"(</layer>{}<layer id="0" name="x" type="Parameter" version="opset1"><data shape="" element_type="f32"/><output>)"
      R"(<port id="0"/></output></layer></layers><edges>{}</edges></net>)",
      layers, edges);
  const Graph graph = read(xml);
  ASSERT_EQ(graph.nodes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(graph.nodes[i].name, fmt::format("n{}", i + 1));
}

TEST(Reader, RefusesBadXml) {
  const std::string good = small().xml();
  struct Case {
    std::string xml;
    const char* about;
  };
  std::string deep = "<net version=\"11\">";
  for (int i = 0; i < 200; ++i) deep += "<a>";
  std::string very_deep;
  for (int i = 0; i < 1'000'000; ++i) very_deep += "<a>";
  const Case cases[] = {
      {"", "the file is empty"},
      {"net", "text outside of the root element"},
      {"  ", "there is no element"},
      {"<net", "a tag does not end"},
      {"<net a=\"b", "an attribute's value does not end"},
      {"<net><!-- ", "ends inside a tag or a comment"},
      {"<net>", "the file ends inside an element"},
      {"</net>", "an element ends that did not begin"},
      {"<net></nut>", "Start-end tags mismatch"},
      {"<net></net><net/>", "a second root element"},
      {"<net a=\"1\" a=\"2\"/>", "attribute 'a' twice"},
      {"<net a=1/>", "Error parsing element attribute"},
      {std::string("<net>\0</net>", 12), "a zero byte"},
      {"<!DOCTYPE net><net/>", "a document type or entity declaration"},
      {"<!doctype net><net/>", "a document type or entity declaration"},
      {"<net><!ENTITY a \"b\"></net>", "a document type or entity declaration"},
      {"<!DOCTYPE n [<!ENTITY a \"xx\"><!ENTITY b \"&a;&a;\">]><net>&b;</net>", "a document type or entity"},
      {"<net>&a;</net>", "a reference"},
      {"<net a=\"&a;\"/>", "a reference"},
      {"<net>&</net>", "a reference"},
      {"<net>&#;</net>", "a reference"},
      {"<net>&#x;</net>", "a reference"},
      {"<net>&#xQ;</net>", "a reference"},
      {deep, "elements are nested more than 128 deep"},
      {very_deep, "elements are nested more than 128 deep"},
      {"<model/>", "the root element is 'model'"},
      {"<net/>", "attribute version is missing"},
      {"<net version=\"7\"/>", "IR version 7 is not supported; 10 and 11 are"},
      {"<net version=\"x\"/>", "version is 'x'"},
      {"<net version=\"11\"/>", "the model has no layers"},
      {"<net version=\"11\"><layers/></net>", "the model has no layers"},
      {replaced(good, "<edges>", "<edges/><edges>"), "the element edges is there twice"},
  };
  for (const Case& c : cases) {
    const std::string message = message_of(c.xml);
    EXPECT_NE(message.find(c.about), std::string::npos) << c.xml.substr(0, 80) << "\n" << message;
    EXPECT_TRUE(message.starts_with("m.xml: ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Reader, RefusesBadLayersAndEdges) {
  const IrBuilder model = small();
  struct Case {
    const char* what;
    const char* with;
    const char* about;
  };
  const Case cases[] = {
      {R"(id="0" name="x")", R"(id="one" name="x")", "layer 'x': id is 'one'; it must be a number"},
      {R"(id="0" name="x")", R"(id="-1" name="x")", "id is '-1'"},
      {R"(id="0" name="x")", R"(id="99999999999999999999" name="x")", "id is '99999999999999999999'"},
      {R"(id="0" name="x")", R"(name="x")", "attribute id is missing"},
      {R"(id="1" name="w")", R"(id="0" name="w")", "has the id 0, which layer 'x' (Parameter) has already"},
      {R"(type="Multiply" version="opset1")", R"(version="opset1")", "layer 'scale': attribute type is missing"},
      {R"(type="Multiply" version="opset1")", R"(type="Multiply")", "attribute version is missing"},
      {R"(type="Multiply" version="opset1")", R"(type="Multiply" version="opset99")", "operation set 'opset99'"},
      {R"(<port id="2" names=""/>)", R"(<port id="2" precision="FP31"/>)", "precision 'FP31' is unknown"},
      {R"(<port id="2" names=""/>)", R"(<port id="2"><dim>-2</dim></port>)", "the extent '-2'"},
      {R"(<port id="2" names=""/>)", R"(<port id="2"><dim/></port>)", "the extent ''"},
      {R"(<port id="1"/>)", R"(<port id="0"/>)", "port 0 is there twice"},
      {R"(from-layer="0")", R"(from-layer="9")", "edge 0: there is no layer 9"},
      {R"(from-layer="0" from-port="0")", R"(from-layer="0" from-port="7")",
       "layer 'x' (Parameter) has no output port 7"},
      {R"(to-layer="2" to-port="1")", R"(to-layer="2" to-port="7")", "layer 'scale' (Multiply) has no input port 7"},
      {R"(to-layer="2" to-port="1")", R"(to-layer="2" to-port="0")",
       "input port 0 of layer 'scale' (Multiply) has an edge"},
      {R"(from-layer="0")", R"(from-layer="two")", "from-layer is 'two'"},
      {R"(from-layer="0")", "", "attribute from-layer is missing"},
      {R"(<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>)", "", "no edge leads to input port 0"},
      {R"(from-layer="0" from-port="0")", R"(from-layer="2" from-port="2")",
       "layer 'scale' (Multiply) needs its own output"},
      {R"(type="Result")", R"(type="Sink")", "there is no Result"},
      {R"(<input><port id="0"/></input></layer>)", "</layer>", "has 0 input ports; it must have 1"},
      {R"(element_type="f32" shape="2,3")", R"(shape="2,3")",
       "layer 'x' (Parameter): attribute element_type is missing"},
      {R"(element_type="f32" shape="2,3")", R"(element_type="f12" shape="2,3")", "element_type 'f12' is unknown"},
      {R"(element_type="f32" shape="2,3")", R"(element_type="f32")", "attribute shape is missing"},
      {R"(element_type="f32" shape="2,3")", R"(element_type="f32" shape="2,x")", "shape is '2,x'"},
      {R"(shape="3" offset)", R"(shape="?" offset)", "layer 'w' (Const): the shape of a constant must be known"},
      {R"(shape="3" offset)", R"(shape="..." offset)", "the shape of a constant must be known"},
      {R"(shape="3" offset)", R"(shape="4294967296,4294967296" offset)", "does not fit"},
      {R"(shape="3" offset)", R"(shape="4" offset)", "size is 12, but shape and element_type need 16 bytes"},
      {R"(element_type="f32" shape="3")", R"(element_type="string" shape="3")",
       "a constant of string is not supported"},
      {R"(offset="0")", R"(offset="1")", "12 bytes at offset 1 reach past the end of the weights, which has 12"},
      {R"(offset="0")", R"(offset="18446744073709551608")", "reach past the end"},
      {R"(offset="0")", R"(offset="18446744073709551616")", "offset is '18446744073709551616'"},
      {R"(offset="0")", R"(offset="-4")", "offset is '-4'"},
      {R"(offset="0")", "", "attribute offset is missing"},
      {R"(size="12")", R"(size="0xC")", "size is '0xC'"},
  };
  for (const Case& c : cases) {
    const std::string message = message_of(replaced(model.xml(), c.what, c.with), model.weights());
    EXPECT_NE(message.find(c.about), std::string::npos) << c.with << "\n" << message;
    EXPECT_TRUE(message.starts_with("m.xml: ")) << message;
  }
}

TEST(Reader, WritesOneLineWhateverAFileHolds) {
  const IrBuilder model = small();
  const std::string xml = replaced(model.xml(), R"(name="scale" type="Multiply" version="opset1")",
                                   "name=\"a&#10;b\" type=\"c&#10;d\" version=\"e&#10;f\"");
  EXPECT_EQ(
      message_of(xml, model.weights()),
      "m.xml: layer 'a\\x0ab' (c\\x0ad): operation set 'e\\x0af' is not known; all supported layers are of opset1");
}

TEST(Reader, FindsACycleOfSeveralLayers) {
  IrBuilder model;
  model.parameter("x", "f32", "2")
      .layer("a", "Add", "", {"x", "x"})
      .layer("b", "Add", "", {"a", "x"})
      .layer("c", "Add", "", {"b", "x"})
      .result("c");
  const std::string xml = replaced(model.xml(), R"(from-layer="0" from-port="0" to-layer="1" to-port="1")",
                                   R"(from-layer="2" from-port="2" to-layer="1" to-port="1")");
  const std::string message = message_of(xml);
  EXPECT_NE(message.find("the edges make a cycle"), std::string::npos) << message;
  EXPECT_TRUE(message.starts_with("m.xml: layer 'a'") || message.starts_with("m.xml: layer 'b'")) << message;
}

TEST(Reader, KeepsToItsLimits) {
  const IrBuilder model = small();
  OpenVinoLimits limits;
  limits.xml_bytes = model.xml().size();
  limits.layers = 4;
  limits.depth = 6;
  EXPECT_EQ(message_of(model.xml(), model.weights(), limits), "accepted");
  --limits.xml_bytes;
  EXPECT_NE(message_of(model.xml(), model.weights(), limits).find("the limit is"), std::string::npos);
  limits = {};
  limits.layers = 3;
  EXPECT_NE(message_of(model.xml(), model.weights(), limits).find("more than 3 layers"), std::string::npos);
  limits = {};
  limits.depth = 3;
  EXPECT_NE(message_of(model.xml(), model.weights(), limits).find("more than 3 deep"), std::string::npos);
}

TEST(Reader, ListsEveryFinding) {
  const IrBuilder model = small();
  std::string xml = replaced(model.xml(), R"(element_type="f32" shape="2,3")", R"(element_type="f12" shape="2,3")");
  xml = replaced(xml, R"(offset="0")", R"(offset="1")");
  EXPECT_EQ(findings_of(xml, model.weights()).size(), 2u);
  xml = replaced(model.xml(), R"(from-layer="0")", R"(from-layer="9")");
  xml = replaced(xml, R"(from-layer="1")", R"(from-layer="8")");
  EXPECT_EQ(findings_of(xml, model.weights()).size(), 2u);
  EXPECT_TRUE(findings_of(model.xml(), model.weights()).empty());
}

TEST(Reader, NamesAMissingWeightsFile) {
  Findings findings;
  const IrBuilder model = small();
  try {
    static_cast<void>(read_model({"no/such/m.xml", model.xml(), Weights::beside("no/such/m.xml"), {}}, findings));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("layer 'w' (Const): no/such/m.bin: cannot open"), std::string::npos)
        << error.what();
  }
  // Without constants nobody asks for it.
  IrBuilder plain;
  plain.parameter("x", "f32", "2").result("x");
  EXPECT_EQ(read_model({"m.xml", plain.xml(), Weights::beside("no/such/m.xml"), {}}, findings).outputs[0].name, "x");
}

TEST(ShapeText, ReadsExtents) {
  struct Case {
    const char* text;
    std::optional<std::string> shape;  ///< nothing: refused
  };
  const Case cases[] = {{"", "()"},
                        {"2,3", "(2, 3)"},
                        {" 2 , 3 ", "(2, 3)"},
                        {"[2,3]", "(2, 3)"},
                        {"?,-1,4", "(?, ?, 4)"},
                        {"1..8", "(1..8)"},
                        {"2..,..5", "(2.., 0..5)"},
                        {"3..3", "(3)"},
                        {"..", "(?)"},
                        {"...", "(...)"},
                        {"9223372036854775807", "(9223372036854775807)"},
                        {"9223372036854775808", std::nullopt},
                        {"-2", std::nullopt},
                        {"+2", std::nullopt},
                        {"8..1", std::nullopt},
                        {"1..x", std::nullopt},
                        {"2,", std::nullopt},
                        {",", std::nullopt},
                        {"2 3", std::nullopt},
                        {"0x2", std::nullopt}};
  for (const Case& c : cases) {
    const auto shape = parse_shape(c.text);
    EXPECT_EQ(shape ? std::optional(to_string(shape->extents)) : std::nullopt, c.shape) << c.text;
  }
}

TEST(ShapeText, ReadsElementTypes) {
  EXPECT_EQ(parse_element_type("f32"), ElementType::f32);
  EXPECT_EQ(parse_element_type("FP32"), ElementType::f32);
  EXPECT_EQ(parse_element_type("FP16"), ElementType::f16);
  EXPECT_EQ(parse_element_type("BF16"), ElementType::bf16);
  EXPECT_EQ(parse_element_type("FP64"), ElementType::f64);
  EXPECT_EQ(parse_element_type("I64"), ElementType::i64);
  EXPECT_EQ(parse_element_type("U4"), ElementType::u4);
  EXPECT_EQ(parse_element_type("boolean"), ElementType::boolean);
  EXPECT_EQ(parse_element_type("BOOL"), ElementType::boolean);
  EXPECT_EQ(parse_element_type("f12"), std::nullopt);
  EXPECT_EQ(parse_element_type(""), std::nullopt);
}

}  // namespace
}  // namespace binet::openvino
