#include "formats/onnx/model_reader.h"

#include <gtest/gtest.h>

#include "binet/error.h"
#include "formats/onnx/model_builder_testing.h"

namespace binet::onnx {
namespace {

using testing::ModelBuilder;

Graph read(const std::string& bytes) {
  Findings findings;
  return read_model({"m.onnx", bytes, nullptr, std::nullopt}, findings);
}

std::string message_of(const std::string& bytes) {
  try {
    static_cast<void>(read(bytes));
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

ModelBuilder square(std::int64_t ir_version = 8) {
  ModelBuilder model(14, ir_version);
  model.input("X", ElementType::f32, {-1, 3}).node("Mul", {"X", "X"}, {"Y"}).output("Y", ElementType::f32, {-1, 3});
  return model;
}

TEST(ModelReader, ReadsTheParts) {
  const Graph graph = read(square().initializer(testing::raw_tensor<float>("W", {1}, {2})).bytes());
  EXPECT_EQ(graph.ir_version, 8);
  ASSERT_EQ(graph.opset_imports.size(), 1u);
  EXPECT_EQ(graph.opset_imports[0].domain, "ai.onnx");
  EXPECT_EQ(graph.opset_imports[0].version, 14);
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.inputs[0].name, "X");
  EXPECT_EQ(graph.inputs[0].type, ElementType::f32);
  ASSERT_TRUE(graph.inputs[0].shape.has_value());
  EXPECT_EQ((*graph.inputs[0].shape)[0].symbol, "N");
  EXPECT_EQ((*graph.inputs[0].shape)[1].extent, 3);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<std::string>{"X", "X"}));
  ASSERT_EQ(graph.initializers.size(), 1u);
  EXPECT_EQ(graph.initializers[0].value.values<float>().size(), 1u);
}

TEST(ModelReader, FilesBeforeOpsetImportsMeanTheFirstSet) {
  std::string model;
  protozero::pbf_writer writer(model);
  writer.add_int64(model::kIrVersion, 2);
  writer.add_message(model::kGraph, std::string());
  ASSERT_EQ(read(model).opset_imports.size(), 1u);
  EXPECT_EQ(read(model).opset_imports[0].version, 1);
}

TEST(ModelReader, AcceptsANewerIrVersionOnlyIfEveryFieldIsKnown) {
  EXPECT_EQ(message_of(square(kNewestIrVersion + 1).bytes()), "accepted");
  std::string with_unknown = square(kNewestIrVersion + 1).bytes();
  protozero::pbf_writer(with_unknown).add_int32(99, 1);
  EXPECT_NE(message_of(with_unknown).find("ModelProto field 99"), std::string::npos) << message_of(with_unknown);
  std::string old_with_unknown = square().bytes();
  protozero::pbf_writer(old_with_unknown).add_int32(99, 1);
  EXPECT_EQ(message_of(old_with_unknown), "accepted");
}

TEST(ModelReader, AttributesOfEveryReadKind) {
  std::string ints;
  protozero::pbf_writer writer(ints);
  const std::vector<std::int64_t> values = {1, -2};
  writer.add_string(attribute::kName, "ints");
  writer.add_packed_int64(attribute::kInts, values.begin(), values.end());
  writer.add_int32(attribute::kType, 7);
  const Graph graph = read(ModelBuilder(14)
                               .node("Op", {}, {},
                                     {testing::integer_attribute("i", -5), testing::real_attribute("f", 0.5f), ints,
                                      testing::tensor_attribute("t", testing::raw_tensor<double>("", {}, {1.0}))})
                               .bytes());
  const std::vector<Attribute>& attributes = graph.nodes[0].attributes;
  EXPECT_EQ(std::get<std::int64_t>(attributes[0].value), -5);
  EXPECT_EQ(std::get<float>(attributes[1].value), 0.5f);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(attributes[2].value), values);
  EXPECT_EQ(std::get<Tensor>(attributes[3].value).type(), ElementType::f64);
}

TEST(ModelReader, AnAttributeWithoutATypeTakesTheKindOfItsField) {
  std::string untyped;
  protozero::pbf_writer writer(untyped);
  writer.add_string(attribute::kName, "axis");
  writer.add_int64(attribute::kInt, 1);
  const Graph graph = read(ModelBuilder(6, 1).node("Mul", {}, {}, {untyped}).bytes());
  EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes[0].value), 1);
}

TEST(ModelReader, RefusesAttributesThatContradictThemselves) {
  std::string attribute = testing::integer_attribute("axis", 1);
  protozero::pbf_writer(attribute).add_float(attribute::kFloat, 1);
  EXPECT_NE(message_of(ModelBuilder(6).node("Mul", {}, {}, {attribute}).bytes()).find("of another kind"),
            std::string::npos);
}

TEST(ModelReader, EveryTruncationIsRefused) {
  const std::string whole = square().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string cut(whole.data(), size);
    EXPECT_NE(message_of(cut), "accepted") << size;
  }
}

TEST(ModelReader, CollectsFindingsOfIndependentParts) {
  std::string no_type;
  protozero::pbf_writer(no_type).add_string(tensor::kName, "W");
  std::vector<std::string> messages;
  Findings findings(messages);
  const std::string bytes =
      square().initializer(no_type).initializer(testing::raw_tensor<float>("V", {2}, {1})).bytes();
  static_cast<void>(read_model({"m.onnx", bytes, nullptr, std::nullopt}, findings));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].find("'W': the tensor has no element type"), std::string::npos) << messages[0];
  EXPECT_NE(messages[1].find("'V': raw_data has 4 bytes"), std::string::npos) << messages[1];
}

}  // namespace
}  // namespace binet::onnx
