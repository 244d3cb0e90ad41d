#include "formats/openvino/layer.h"

#include <unordered_set>

#include "base/fail.h"
#include "base/text.h"
#include "formats/openvino/shape_text.h"

namespace binet::openvino {
namespace {

/// Attributes of <data> that are hints to a runtime, whatever the layer.
bool is_hint(std::string_view attribute) { return attribute == "PrimitivesPriority" || attribute == "alt_width"; }

/// The axis of pdpd broadcasting has no name in the specification; these are in use, the last in serialized models.
bool is_broadcast_axis(std::string_view attribute) {
  return attribute == "axis" || attribute == "auto_broadcast_axis" || attribute == "auto_broadcast.auto_broadcast_axis";
}

std::string read_text(pugi::xml_node element, const char* attribute, const std::string& where) {
  const pugi::xml_attribute found = element.attribute(attribute);
  if (!found || *found.value() == '\0') {
    fail(ErrorCode::invalid_file, "{}: attribute {} is missing", where, attribute);
  }
  return found.value();
}

Port read_port(pugi::xml_node element, const std::string& where) {
  Port port;
  port.id = read_number(element, "id", fmt::format("{}: a port", where));
  port.names = parse_names(element.attribute("names").value());
  const std::string_view precision = element.attribute("precision").value();
  if (!precision.empty() && precision != "UNSPECIFIED" && precision != "DYNAMIC") {
    port.type = parse_element_type(precision);
    if (!port.type) {
      fail(ErrorCode::invalid_file, "{}: port {}: precision {} is unknown", where, port.id, quote(precision));
    }
  }
  for (const pugi::xml_node dim : element.children("dim")) {
    const auto extent = parse_extent(dim.text().get());
    if (!extent) {
      fail(ErrorCode::invalid_file, "{}: port {}: the extent {} is neither a number nor -1", where, port.id,
           quote(dim.text().get()));
    }
    if (!port.shape) port.shape.emplace();
    port.shape->push_back(*extent);
  }
  return port;
}

std::vector<Port> read_ports(pugi::xml_node element, const std::string& where) {
  std::vector<Port> ports;
  std::unordered_set<std::uint64_t> ids;
  for (const pugi::xml_node port : element.children("port")) {
    ports.push_back(read_port(port, where));
    if (!ids.insert(ports.back().id).second) {
      fail(ErrorCode::invalid_file, "{}: port {} is there twice", where, ports.back().id);
    }
  }
  return ports;
}

}  // namespace

const std::string* Layer::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : data) {
    if (key == wanted) return &value;
  }
  return nullptr;
}

std::string label(const Layer& layer) {
  // Escaped and cut like any text from a file, but without the quotes.
  const std::string type = quote(layer.type);
  return fmt::format("layer {} ({})", quote(layer.name), type.substr(1, type.size() - 2));
}

std::uint64_t read_number(pugi::xml_node element, const char* attribute, const std::string& where) {
  const std::string text = read_text(element, attribute, where);
  const auto number = parse_unsigned(text);
  if (!number) fail(ErrorCode::invalid_file, "{}: {} is {}; it must be a number", where, attribute, quote(text));
  return *number;
}

Layer read_layer(pugi::xml_node element, const std::string& file) {
  Layer layer;
  layer.name = element.attribute("name").value();
  std::string where = fmt::format("{}: layer {}", file, quote(layer.name));
  layer.id = read_number(element, "id", where);
  layer.type = read_text(element, "type", where);
  where = fmt::format("{}: {}", file, label(layer));
  layer.version = read_text(element, "version", where);
  layer.inputs = read_ports(element.child("input"), where);
  layer.outputs = read_ports(element.child("output"), where);
  layer.output_names = parse_names(element.attribute("output_names").value());
  for (const pugi::xml_attribute attribute : element.child("data").attributes()) {
    const std::string_view name = attribute.name();
    if (is_hint(name)) continue;
    layer.data.emplace_back(is_broadcast_axis(name) ? "axis" : name, attribute.value());
  }
  return layer;
}

}  // namespace binet::openvino
