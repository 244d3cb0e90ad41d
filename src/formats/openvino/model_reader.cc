#include "formats/openvino/model_reader.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/element_types.h"
#include "base/fail.h"
#include "base/text.h"
#include "formats/openvino/edges.h"
#include "formats/openvino/layer.h"
#include "formats/openvino/shape_text.h"
#include "formats/openvino/xml_document.h"
#include "tensor/shape.h"

namespace binet::openvino {
namespace {

constexpr std::int64_t kOldestIrVersion = 10;
constexpr std::int64_t kNewestIrVersion = 11;
/// The operation set of every layer that is known here: each is unchanged since the first.
constexpr std::string_view kOpset = "opset1";

class ModelReader {
 public:
  ModelReader(ModelBytes model, Findings& findings) : model_(std::move(model)), findings_(findings) {
    graph_.file = model_.name;
    graph_.format = "OpenVINO IR";
    graph_.opset_imports.push_back({std::string(kOpset), 1});
  }

  Graph read() {
    const XmlDocument document(model_.name, model_.xml, model_.limits);
    const pugi::xml_node net = document.root();
    read_head(net);
    read_layers(net.child("layers"));
    wire(net.child("edges"));
    if (!is_whole_) return std::move(graph_);
    const std::vector<std::size_t> order = running_order(layers_, wiring_, model_.name);
    name_values();
    Graph empty = graph_;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].type == "Parameter") check([&] { add_input(i); });
      if (layers_[i].type == "Const") check([&] { add_constant(i); });
      if (layers_[i].type == "Result") add_output(i);
      if (layers_[i].type != "Result") declare_outputs(i);
    }
    for (const std::size_t i : order) {
      if (!is_special(layers_[i])) add_node(i);
    }
    if (model_.weights.file() != nullptr) graph_.files.push_back(model_.weights.file());
    return is_whole_ ? std::move(graph_) : empty;
  }

 private:
  template <class Part>
  void check(Part&& part) {
    if (!findings_.check(std::forward<Part>(part))) is_whole_ = false;
  }

  void read_head(pugi::xml_node net) {
    if (net.name() != std::string_view("net")) {
      fail(ErrorCode::invalid_file, "{}: not an OpenVINO model: the root element is {}; it must be net", model_.name,
           quote(net.name()));
    }
    const std::uint64_t version = read_number(net, "version", model_.name + ": net");
    if (version < kOldestIrVersion || version > kNewestIrVersion) {
      fail(ErrorCode::unsupported, "{}: IR version {} is not supported; {} and {} are", model_.name, version,
           kOldestIrVersion, kNewestIrVersion);
    }
    graph_.ir_version = static_cast<std::int64_t>(version);
    graph_.name = net.attribute("name").value();
    for (const char* part : {"layers", "edges"}) {
      if (net.child(part).next_sibling(part)) {
        fail(ErrorCode::invalid_file, "{}: the element {} is there twice", model_.name, part);
      }
    }
  }

  void read_layers(pugi::xml_node elements) {
    for (const pugi::xml_node element : elements.children("layer")) {
      if (layers_.size() == model_.limits.layers) {
        fail(ErrorCode::invalid_file, "{}: there are more than {} layers, the limit (LoadOptions::openvino.layers)",
             model_.name, model_.limits.layers);
      }
      check([&] {
        layers_.push_back(read_layer(element, model_.name));
        check_layer(layers_.back());
      });
    }
    if (!elements.child("layer")) fail(ErrorCode::invalid_file, "{}: the model has no layers", model_.name);
  }

  static bool is_special(const Layer& layer) {
    return layer.type == "Parameter" || layer.type == "Const" || layer.type == "Result";
  }

  void check_layer(const Layer& layer) const {
    const std::string where = fmt::format("{}: {}", model_.name, label(layer));
    if (layer.version != kOpset) {
      fail(ErrorCode::unsupported, "{}: operation set {} is not known; all supported layers are of {}", where,
           quote(layer.version), kOpset);
    }
    const bool is_result = layer.type == "Result";
    const std::size_t inputs = is_result ? 1 : 0;
    if (is_special(layer) && layer.inputs.size() != inputs) {
      fail(ErrorCode::invalid_file, "{}: the layer has {} input ports; it must have {}", where, layer.inputs.size(),
           inputs);
    }
    if (is_special(layer) && !is_result && layer.outputs.size() != 1) {
      fail(ErrorCode::invalid_file, "{}: the layer has {} output ports; it must have 1", where, layer.outputs.size());
    }
  }

  void wire(pugi::xml_node edges) {
    // Edges to a layer that could not be read would be findings of their own.
    if (!is_whole_) return;
    check([&] {
      const bool has_result =
          std::any_of(layers_.begin(), layers_.end(), [](const Layer& layer) { return layer.type == "Result"; });
      if (!has_result) fail(ErrorCode::invalid_file, "{}: there is no Result, so the model has no output", model_.name);
    });
    auto wiring = connect(layers_, edges, model_.name, findings_);
    if (wiring) {
      wiring_ = *std::move(wiring);
    } else {
      is_whole_ = false;
    }
  }

  /// Inputs first: their names are what a caller writes.
  void name_values() {
    output_names_.resize(layers_.size());
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (layers_[i].type != "Result") continue;
      const Source source = *wiring_[i].front();
      Port& port = layers_[source.layer].outputs[source.port];
      if (port.names.empty()) port.names = layers_[i].output_names;
    }
    for (const bool inputs : {true, false}) {
      for (std::size_t i = 0; i < layers_.size(); ++i) {
        if ((layers_[i].type == "Parameter") == inputs) name_outputs(i);
      }
    }
  }

  void name_outputs(std::size_t place) {
    const Layer& layer = layers_[place];
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      std::string name = layer.outputs.size() == 1 ? layer.name : fmt::format("{}.{}", layer.name, i);
      if (!layer.outputs[i].names.empty()) name = layer.outputs[i].names.front();
      if (name.empty()) name = fmt::format("layer {}", layer.id);
      while (!taken_names_.insert(name).second) name += fmt::format("#{}", layer.id);
      output_names_[place].push_back(std::move(name));
    }
  }

  [[nodiscard]] const std::string& source_name(std::size_t layer, std::size_t port) const {
    const Source source = *wiring_[layer][port];
    return output_names_[source.layer][source.port];
  }

  ElementType read_type(const Layer& layer, const std::string& where) const {
    const std::string* text = layer.attribute("element_type");
    if (text == nullptr) fail(ErrorCode::invalid_file, "{}: attribute element_type is missing", where);
    const auto type = parse_element_type(*text);
    if (!type) fail(ErrorCode::invalid_file, "{}: element_type {} is unknown", where, quote(*text));
    return *type;
  }

  ShapeText read_shape(const Layer& layer, const std::string& where) const {
    const std::string* text = layer.attribute("shape");
    if (text == nullptr) fail(ErrorCode::invalid_file, "{}: attribute shape is missing", where);
    auto shape = parse_shape(*text);
    if (!shape) {
      fail(ErrorCode::invalid_file, "{}: shape is {}; it must be extents with commas between them", where,
           quote(*text));
    }
    return *std::move(shape);
  }

  void add_input(std::size_t place) {
    const Layer& layer = layers_[place];
    const std::string where = fmt::format("{}: {}", model_.name, label(layer));
    const ElementType type = read_type(layer, where);
    graph_.inputs.push_back({output_names_[place].front(), type, read_shape(layer, where).extents});
  }

  void add_constant(std::size_t place) {
    const Layer& layer = layers_[place];
    const std::string where = fmt::format("{}: {}", model_.name, label(layer));
    const ElementType type = read_type(layer, where);
    const ShapeText text = read_shape(layer, where);
    Shape shape;
    for (const Dimension& dimension : text.extents.value_or(std::vector{Dimension{}})) {
      if (!dimension.extent) fail(ErrorCode::invalid_file, "{}: the shape of a constant must be known", where);
      shape.push_back(*dimension.extent);
    }
    const auto elements = element_count(shape);
    const auto bytes = elements ? byte_count(type, *elements) : std::nullopt;
    if (!bytes) fail(ErrorCode::invalid_file, "{}: the size of shape {} does not fit", where, to_string(shape));
    if (bit_size(type) == 0) {
      fail(ErrorCode::unsupported, "{}: a constant of {} is not supported", where, to_string(type));
    }
    const std::byte* data = nullptr;
    findings_.check([&] { data = read_data(layer, static_cast<std::uint64_t>(*bytes), where); });
    graph_.initializers.push_back(
        {output_names_[place].front(), Tensor::shared(type, std::move(shape), data, model_.weights.owner())});
  }

  const std::byte* read_data(const Layer& layer, std::uint64_t needed, const std::string& where) {
    const std::uint64_t offset = read_count(layer, "offset", where);
    const std::uint64_t size = read_count(layer, "size", where);
    if (size != needed) {
      fail(ErrorCode::invalid_file, "{}: size is {}, but shape and element_type need {} bytes", where, size, needed);
    }
    return model_.weights.read(offset, size, where).data();
  }

  static std::uint64_t read_count(const Layer& layer, std::string_view key, const std::string& where) {
    const std::string* text = layer.attribute(key);
    if (text == nullptr) fail(ErrorCode::invalid_file, "{}: attribute {} is missing", where, key);
    const auto value = parse_unsigned(*text);
    if (!value) {
      fail(ErrorCode::invalid_file, "{}: {} is {}; it must be a number of bytes below 2^64", where, key, quote(*text));
    }
    return *value;
  }

  void add_output(std::size_t place) { graph_.outputs.push_back({source_name(place, 0), std::nullopt, std::nullopt}); }

  void declare_outputs(std::size_t place) {
    for (std::size_t i = 0; i < layers_[place].outputs.size(); ++i) {
      const Port& port = layers_[place].outputs[i];
      if (port.type || port.shape) graph_.values.push_back({output_names_[place][i], port.type, port.shape});
    }
  }

  void add_node(std::size_t place) {
    const Layer& layer = layers_[place];
    Node node;
    node.name = layer.name;
    node.domain = kOpset;
    node.op_type = layer.type;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) node.inputs.push_back(source_name(place, i));
    node.outputs = output_names_[place];
    for (const auto& [key, text] : layer.data) node.attributes.push_back({key, TextAttribute{text}});
    graph_.nodes.push_back(std::move(node));
  }

  ModelBytes model_;
  Findings& findings_;
  bool is_whole_ = true;
  std::vector<Layer> layers_;
  Wiring wiring_;
  std::vector<std::vector<std::string>> output_names_;  ///< the value's name, for each layer and output port
  std::unordered_set<std::string> taken_names_;
  Graph graph_;
};

}  // namespace

Graph read_model(ModelBytes model, Findings& findings) { return ModelReader(std::move(model), findings).read(); }

}  // namespace binet::openvino
