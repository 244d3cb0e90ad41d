// Room: runtime. A bound graph and the operator tables as plain data, for programs that show them.
#include <fmt/format.h>

#include "base/out_of_memory.h"
#include "base/text.h"
#include "binet/operators.h"
#include "binet/version.h"
#include "operators/registry.h"
#include "runtime/loaded_model.h"

namespace binet {
namespace {

ValueDescription describe(const BoundGraph& graph, ValueIndex index) {
  const BoundValue& value = graph.values[index];
  ValueDescription description{value.name, value.type.type, std::nullopt, value.is_input && value.constant.has_value()};
  if (!value.type.shape) return description;
  description.shape.emplace();
  for (std::size_t i = 0; i < value.type.shape->size(); ++i) {
    const Extent extent = (*value.type.shape)[i];
    Dimension dimension;
    if (i < value.bounds.size() && !is_known(extent)) {
      dimension.least = value.bounds[i].least;
      dimension.most = value.bounds[i].most;
    }
    if (is_known(extent)) dimension.extent = extent;
    if (is_symbol(extent)) dimension.symbol = graph.symbols[symbol_of(extent)];
    description.shape->push_back(std::move(dimension));
  }
  return description;
}

std::vector<ValueDescription> describe(const BoundGraph& graph, const std::vector<ValueIndex>& indexes) {
  std::vector<ValueDescription> descriptions;
  for (const ValueIndex index : indexes) descriptions.push_back(describe(graph, index));
  return descriptions;
}

std::string to_text(const Dimension& dimension) {
  if (dimension.extent) return fmt::format("{}", *dimension.extent);
  if (!dimension.symbol.empty()) return dimension.symbol;
  if (dimension.least == 0 && !dimension.most) return "?";
  return fmt::format("{}..{}", dimension.least, dimension.most ? fmt::format("{}", *dimension.most) : "");
}

/// A setting, or a default, as text.
struct ToText {
  std::string operator()(std::monostate /*absent*/) const { return ""; }
  std::string operator()(const Tensor& tensor) const {
    return fmt::format("{} {}", to_string(tensor.type()), to_string(tensor.shape()));
  }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(float value) const { return shortest_decimal(value); }
  template <class T>
  std::string operator()(const std::vector<T>& values) const {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back((*this)(value));
    return fmt::format("[{}]", join(texts, ", "));
  }
  template <class T>
  std::string operator()(const T& value) const {
    return fmt::format("{}", value);
  }
};

NodeDescription describe(const BoundGraph& graph, const BoundNode& node) {
  NodeDescription description{
      node.name, std::string(node.version->name), std::string(node.version->domain), node.version->since_version, {},
      {},        {graph.values[node.output].name}};
  for (std::size_t i = 0; i < node.attributes.size(); ++i) {
    const std::string text = std::visit(ToText{}, node.attributes[i]);
    if (!text.empty()) description.attributes.push_back({std::string(node.version->attributes[i].name), text});
  }
  for (const ValueIndex input : node.inputs) {
    description.inputs.push_back(input == kLeftOut ? "" : graph.values[input].name);
  }
  while (!description.inputs.empty() && description.inputs.back().empty()) description.inputs.pop_back();
  return description;
}

}  // namespace

std::string to_string(const std::optional<std::vector<Dimension>>& shape) {
  if (!shape) return "(...)";
  std::vector<std::string> extents;
  for (const Dimension& dimension : *shape) extents.push_back(to_text(dimension));
  return fmt::format("({})", join(extents, ", "));
}

std::vector<ValueDescription> Model::inputs() const {
  return guard_memory([&] { return describe(inside_->graph, inside_->graph.inputs); });
}
std::vector<ValueDescription> Model::outputs() const {
  return guard_memory([&] { return describe(inside_->graph, inside_->graph.outputs); });
}

std::vector<ValueDescription> Model::constants() const {
  return guard_memory([&] {
    std::vector<ValueDescription> constants;
    for (ValueIndex i = 0; i < inside_->graph.values.size(); ++i) {
      if (inside_->graph.values[i].constant) constants.push_back(describe(inside_->graph, i));
    }
    return constants;
  });
}

std::vector<ValueDescription> Model::values() const {
  return guard_memory([&] {
    std::vector<ValueDescription> values;
    for (ValueIndex i = 0; i < inside_->graph.values.size(); ++i) values.push_back(describe(inside_->graph, i));
    return values;
  });
}

std::vector<NodeDescription> Model::nodes() const {
  return guard_memory([&] {
    std::vector<NodeDescription> nodes;
    for (const BoundNode& node : inside_->graph.nodes) nodes.push_back(describe(inside_->graph, node));
    return nodes;
  });
}

const std::string& Model::file() const { return inside_->graph.file; }
const std::string& Model::graph_name() const { return inside_->graph.name; }
const std::string& Model::format() const { return inside_->graph.format; }
const std::string& Model::producer() const { return inside_->graph.producer; }
std::int64_t Model::ir_version() const { return inside_->graph.ir_version; }

std::vector<OpsetDescription> Model::opsets() const {
  return guard_memory([&] {
    std::vector<OpsetDescription> opsets;
    for (const auto& [domain, version] : inside_->graph.opset_imports) opsets.push_back({domain, version});
    return opsets;
  });
}

std::vector<OperatorDescription> supported_operators() {
  std::vector<OperatorDescription> descriptions;
  for (const std::span<const OperatorVersion> versions : all_operators()) {
    for (const OperatorVersion& version : versions) {
      OperatorDescription& d = descriptions.emplace_back();
      d.name = version.name;
      d.domain = version.domain;
      d.since_version = version.since_version;
      for (std::size_t i = 0; i < kElementTypeCount; ++i) {
        const auto type = static_cast<ElementType>(i);
        if (version.types.contains(type)) d.types.push_back(type);
      }
      for (const AttributeRule& rule : version.attributes) {
        if (rule.kind == AttributeKind::unsupported) continue;
        std::string fallback = std::visit(ToText{}, rule.fallback);
        if (rule.kind == AttributeKind::boolean && !fallback.empty()) fallback = fallback == "0" ? "false" : "true";
        d.attributes.push_back({std::string(rule.name), std::string(to_string(rule.kind)), std::move(fallback)});
      }
      d.inputs.assign(version.input_names.begin(), version.input_names.end());
      d.min_inputs = version.min_inputs;
      d.shape_rule = version.shape_rule;
      d.changed = version.changed;
    }
  }
  return descriptions;
}

std::string_view version() noexcept { return BINET_VERSION; }

}  // namespace binet
