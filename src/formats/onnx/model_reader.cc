#include "formats/onnx/model_reader.h"

#include <algorithm>

#include "base/fail.h"
#include "base/text.h"
#include "formats/onnx/attribute_reader.h"
#include "formats/onnx/fields.h"
#include "formats/onnx/message.h"
#include "formats/onnx/tensor_reader.h"
#include "formats/onnx/type_reader.h"

namespace binet::onnx {
namespace {

class ModelReader {
 public:
  ModelReader(const ModelBytes& model, Findings& findings)
      : model_(model), findings_(findings), external_(model.folder), source_{model.name, model.bytes} {
    graph_.file = model.name;
    graph_.format = "ONNX";
  }

  Graph read() {
    if (model_.bytes.empty()) fail(ErrorCode::invalid_file, "{}: the file is empty", model_.name);
    read_model_fields();
    // What one IR version may leave out, and which fields it has, is known only now: fields come in any order.
    findings_.check([&] { check_ir_version(); });
    if (!graph_bytes_) fail(ErrorCode::invalid_file, "{}: the model has no graph", model_.name);
    read_graph(*graph_bytes_);
    findings_.check([&] { check_unknown_fields(); });
    graph_.files = external_.files();
    return std::move(graph_);
  }

 private:
  void read_model_fields() {
    Message message(source_, "ModelProto", model_.bytes);
    std::string producer_version;
    while (message.next()) {
      switch (message.field()) {
        case model::kIrVersion:
          graph_.ir_version = message.integer();
          break;
        case model::kProducerName:
          graph_.producer = message.text();
          break;
        case model::kProducerVersion:
          producer_version = message.text();
          break;
        case model::kOpsetImport:
          read_import(message.message("OperatorSetIdProto"));
          break;
        case model::kGraph:
          if (graph_bytes_) message.fail("the model has two graphs");
          graph_bytes_ = message.bytes();
          break;
        case model::kDomain:
        case model::kModelVersion:
        case model::kDocString:
        case model::kMetadataProps:
        case model::kTrainingInfo:
        case model::kFunctions:
        case model::kConfiguration:
          message.skip();
          break;
        default:
          message.skip_unknown();
      }
    }
    if (!producer_version.empty()) graph_.producer += " " + producer_version;
  }

  void read_import(Message message) {
    OpsetImport import;
    while (message.next()) {
      switch (message.field()) {
        case operator_set_id::kDomain:
          import.domain = message.text();
          break;
        case operator_set_id::kVersion:
          import.version = message.integer();
          break;
        default:
          message.skip_unknown();
      }
    }
    if (import.domain.empty()) import.domain = kOnnxDomain;
    graph_.opset_imports.push_back(std::move(import));
  }

  void check_ir_version() {
    if (graph_.ir_version < 1) {
      fail(ErrorCode::invalid_file, "{}: not an ONNX model, or IR version {}; it must be 1 or more", model_.name,
           graph_.ir_version);
    }
    if (graph_.ir_version < kFirstIrVersionWithImports && graph_.opset_imports.empty()) {
      graph_.opset_imports.push_back({std::string(kOnnxDomain), 1});
    }
  }

  void check_unknown_fields() const {
    if (graph_.ir_version <= kNewestIrVersion || source_.unknown_fields.empty()) return;
    fail(ErrorCode::unsupported, "{}: IR version {} is newer than {}, and the file uses {}, which is not known here",
         model_.name, graph_.ir_version, kNewestIrVersion, source_.unknown_fields.front());
  }

  void read_graph(std::string_view bytes) {
    Message message(source_, "GraphProto", bytes);
    while (message.next()) {
      switch (message.field()) {
        case graph::kName:
          graph_.name = message.text();
          break;
        case graph::kNode:
          read_node(message.message("NodeProto"));
          break;
        case graph::kInitializer:
          read_initializer(message.message("TensorProto"));
          break;
        case graph::kInput:
          read_value(message.message("ValueInfoProto"), graph_.inputs);
          break;
        case graph::kOutput:
          read_value(message.message("ValueInfoProto"), graph_.outputs);
          break;
        case graph::kValueInfo:
          read_value(message.message("ValueInfoProto"), graph_.values);
          break;
        case graph::kSparseInitializer:
          findings_.check(
              [&] { fail(ErrorCode::unsupported, "{}: sparse initializers are not supported", model_.name); });
          message.skip();
          break;
        case graph::kDocString:
        case graph::kQuantizationAnnotation:
        case graph::kMetadataProps:
          message.skip();
          break;
        default:
          message.skip_unknown();
      }
    }
  }

  void read_value(const Message& message, std::vector<ValueInfo>& values) {
    ValueInfo& value = values.emplace_back();
    findings_.check([&] { read_value_info(message, model_.name, value); });
  }

  void read_initializer(const Message& message) {
    findings_.check([&] {
      const std::string where = fmt::format("{}: initializer", model_.name);
      NamedTensorProto tensor = read_tensor(message, where, external_, model_.owner);
      if (tensor.name.empty()) {
        fail(ErrorCode::invalid_model, "{} {} has no name", where, graph_.initializers.size());
      }
      graph_.initializers.push_back({std::move(tensor.name), std::move(tensor.value)});
    });
  }

  void read_node(Message message) {
    Node node;
    std::vector<Message> attributes;
    while (message.next()) {
      switch (message.field()) {
        case node::kInput:
          node.inputs.push_back(message.text());
          break;
        case node::kOutput:
          node.outputs.push_back(message.text());
          break;
        case node::kName:
          node.name = message.text();
          break;
        case node::kOpType:
          node.op_type = message.text();
          break;
        case node::kDomain:
          node.domain = message.text();
          break;
        case node::kAttribute:
          attributes.push_back(message.message("AttributeProto"));
          break;
        case node::kDocString:
        case node::kOverload:
        case node::kMetadataProps:
        case node::kDeviceConfigurations:
          message.skip();
          break;
        default:
          message.skip_unknown();
      }
    }
    if (node.domain.empty()) node.domain = kOnnxDomain;
    // Attributes last: their messages name the node, whose name may stand behind them.
    const std::string where = fmt::format("{}: node {} ({})", model_.name,
                                          node.name.empty() ? fmt::format("{}", graph_.nodes.size()) : quote(node.name),
                                          escape(node.op_type));
    for (const Message& attribute : attributes) {
      findings_.check([&] { node.attributes.push_back(read_attribute(attribute, where, external_, model_.owner)); });
    }
    graph_.nodes.push_back(std::move(node));
  }

  const ModelBytes& model_;
  Findings& findings_;
  ExternalFiles external_;
  Source source_;
  std::optional<std::string_view> graph_bytes_;
  Graph graph_;
};

}  // namespace

Graph read_model(const ModelBytes& model, Findings& findings) { return ModelReader(model, findings).read(); }

}  // namespace binet::onnx
