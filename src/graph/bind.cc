#include "graph/bind.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/fail.h"
#include "base/text.h"
#include "graph/bind_node.h"

namespace binet {
namespace {

class Binder {
 public:
  Binder(const Graph& graph, Findings& findings) : graph_(graph), findings_(findings) {
    bound_.file = graph.file;
    bound_.name = graph.name;
    bound_.format = graph.format;
    bound_.producer = graph.producer;
    bound_.ir_version = graph.ir_version;
    bound_.files = graph.files;
    for (const OpsetImport& import : graph.opset_imports)
      bound_.opset_imports.emplace_back(import.domain, import.version);
  }

  BoundGraph bind() {
    opsets_ = bind_imports(graph_, findings_);
    for (const ValueInfo& input : graph_.inputs) findings_.check([&] { bind_input(input); });
    for (const Initializer& initializer : graph_.initializers) {
      findings_.check([&] { bind_initializer(initializer); });
    }
    for (const ValueInfo& info : graph_.values) findings_.check([&] { declare(info, "value"); });
    for (const ValueInfo& info : graph_.outputs) findings_.check([&] { declare(info, "output"); });
    for (const Node& node : graph_.nodes) {
      for (const std::string& output : node.outputs) made_by_nodes_.insert(output);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!findings_.check([&] { bind_node(graph_.nodes[i], i); })) give_up_outputs(graph_.nodes[i]);
    }
    for (const ValueInfo& output : graph_.outputs) findings_.check([&] { bind_output(output); });
    return std::move(bound_);
  }

 private:
  /// A declared shape, its names turned into symbols.
  PartialShape partial_shape(const ValueInfo& info, std::string_view what) {
    if (!info.shape) return std::nullopt;
    std::vector<Extent> extents;
    for (const Dimension& dimension : *info.shape) {
      if (!dimension.extent) {
        extents.push_back(dimension.symbol.empty() ? kUnknownExtent
                                                   : extent_of_symbol(symbol_number(dimension.symbol)));
        continue;
      }
      if (*dimension.extent < 0) {
        fail(ErrorCode::invalid_model, "{}: {} {} is declared with a negative extent, {}", graph_.file, what,
             quote(info.name), *dimension.extent);
      }
      extents.push_back(*dimension.extent);
    }
    return extents;
  }

  std::size_t symbol_number(const std::string& name) {
    const auto [place, is_new] = symbol_numbers_.emplace(name, bound_.symbols.size());
    if (is_new) bound_.symbols.push_back(name);
    return place->second;
  }

  ValueIndex define(const std::string& name, ValueType type, std::string_view what) {
    const auto [place, is_new] = by_name_.emplace(name, bound_.values.size());
    if (!is_new) fail(ErrorCode::invalid_model, "{}: {} {} is defined twice", graph_.file, what, quote(name));
    bound_.values.push_back({name, std::move(type), std::nullopt});
    return place->second;
  }

  void bind_input(const ValueInfo& info) {
    if (info.name.empty()) fail(ErrorCode::invalid_model, "{}: a graph input has no name", graph_.file);
    const ValueIndex index = define(info.name, {}, "input");
    bound_.values[index].is_input = true;
    bound_.inputs.push_back(index);
    if (!info.type) fail(ErrorCode::invalid_model, "{}: input {} has no element type", graph_.file, quote(info.name));
    bound_.values[index].type = {*info.type, partial_shape(info, "input")};
    if (!info.shape) return;
    for (const Dimension& dimension : *info.shape) {
      bound_.values[index].bounds.push_back({dimension.least, dimension.most});
    }
  }

  void bind_initializer(const Initializer& initializer) {
    const ValueType type{initializer.value.type(), initializer.value.shape()};
    const auto known = by_name_.find(initializer.name);
    if (known == by_name_.end()) {
      bound_.values[define(initializer.name, type, "initializer")].constant = initializer.value;
      return;
    }
    BoundValue& value = bound_.values[known->second];
    if (value.constant) {
      fail(ErrorCode::invalid_model, "{}: initializer {} is defined twice", graph_.file, quote(initializer.name));
    }
    check_agrees("initializer", initializer.name, type, value.type, "the input of that name");
    value.constant = initializer.value;
  }

  /// Remembers a declaration, to be compared with what the nodes make.
  void declare(const ValueInfo& info, std::string_view what) {
    if (info.name.empty()) fail(ErrorCode::invalid_model, "{}: an {} has no name", graph_.file, what);
    const PartialShape shape = partial_shape(info, what);
    if (const auto known = by_name_.find(info.name); known != by_name_.end()) {
      const ValueType& type = bound_.values[known->second].type;
      check_agrees(what, info.name, {info.type.value_or(type.type), shape}, type, "the value of that name");
    }
    declarations_[info.name].push_back({info.type, shape});
  }

  void check_agrees(std::string_view what, const std::string& name, const ValueType& declared, const ValueType& actual,
                    std::string_view against) const {
    if (declared.type != actual.type) {
      fail(ErrorCode::invalid_model, "{}: {} {} is declared as {}, but {} is {}", graph_.file, what, quote(name),
           to_string(declared.type), against, to_string(actual.type));
    }
    if (!merge(declared.shape, actual.shape)) {
      fail(ErrorCode::invalid_model, "{}: {} {} is declared with shape {}, but {} has {}", graph_.file, what,
           quote(name), to_string(declared.shape), against, to_string(actual.shape));
    }
  }

  ValueIndex resolve(const std::string& name, const std::string& where) const {
    if (name.empty()) return kLeftOut;
    if (const auto known = by_name_.find(name); known != by_name_.end()) return known->second;
    if (made_by_nodes_.contains(name)) {
      fail(
          ErrorCode::invalid_model,
          "{}: input {} is used before it is made; nodes must stand in an order in which they can run, without a cycle",
          where, quote(name));
    }
    std::vector<std::string_view> names;
    for (const BoundValue& value : bound_.values) names.push_back(value.name);
    const auto near = nearest_name(name, names);
    fail(ErrorCode::invalid_model, "{}: input {} is not defined{}", where, quote(name),
         near ? fmt::format(" (did you mean {}?)", quote(*near)) : "");
  }

  std::vector<ValueIndex> resolve_inputs(const Node& node, const OperatorVersion& version,
                                         const std::string& where) const {
    std::size_t given = node.inputs.size();
    while (given > 0 && node.inputs[given - 1].empty()) --given;
    const std::size_t most = version.input_names.size();
    const auto least = static_cast<std::size_t>(version.min_inputs);
    if (given > most) {
      fail(ErrorCode::invalid_model, "{}: {} inputs are given; {} takes {}", where, given, versioned_name(version),
           least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most));
    }
    std::vector<ValueIndex> inputs(most, kLeftOut);
    for (std::size_t i = 0; i < most; ++i) {
      const bool present = i < given && !node.inputs[i].empty();
      if (present) inputs[i] = resolve(node.inputs[i], where);
      if (present || i >= least) continue;
      fail(ErrorCode::invalid_model, "{}: input {} is missing; {} needs it", where, version.input_names[i],
           versioned_name(version));
    }
    return inputs;
  }

  void bind_node(const Node& node, std::size_t number) {
    BoundNode bound;
    bound.name = node.name;
    const std::string place =
        fmt::format("{}: node {}", graph_.file, node.name.empty() ? fmt::format("{}", number) : quote(node.name));
    bound.version = &select_operator(node, opsets_, place);
    const OperatorVersion& version = *bound.version;
    bound.label = fmt::format("{} ({})", place, versioned_name(version));
    bound.attributes = bind_attributes(node, version, bound.label, findings_);
    bound.inputs = resolve_inputs(node, version, bound.label);
    const std::string& output = output_name(node, bound.label);
    if (by_name_.contains(output)) {
      fail(ErrorCode::invalid_model, "{}: output {} is defined already", bound.label, quote(output));
    }
    if (std::any_of(bound.inputs.begin(), bound.inputs.end(), [&](ValueIndex i) { return given_up_.contains(i); })) {
      give_up_outputs(node);
      return;
    }
    const ValueType type = infer(bound);
    bound.output = define(output, type, "value");
    apply_declarations(bound);
    if (version.constant != nullptr) {
      std::vector<const ValueType*> storage;
      bound_.values[bound.output].constant = version.constant(view(bound, storage));
    } else {
      bound_.nodes.push_back(std::move(bound));
    }
  }

  const std::string& output_name(const Node& node, const std::string& label) const {
    std::size_t count = node.outputs.size();
    while (count > 1 && node.outputs[count - 1].empty()) --count;
    if (count != 1 || node.outputs.front().empty()) {
      fail(ErrorCode::invalid_model, "{}: {} outputs are given; it has 1", label,
           count == 1 ? std::size_t{0} : node.outputs.size());
    }
    return node.outputs.front();
  }

  NodeView view(const BoundNode& node, std::vector<const ValueType*>& storage) const {
    return node.view([this](ValueIndex i) -> const ValueType& { return bound_.values[i].type; }, storage);
  }

  ValueType infer(const BoundNode& node) const {
    std::vector<const ValueType*> storage;
    const NodeView seen = view(node, storage);
    check_types(seen, node.label);
    ValueType type;
    try {
      type = node.version->infer(seen);
    } catch (const Error& error) {
      fail(error.code(), "{}: {}", node.label, error.what());
    }
    if (node.inputs.empty()) check_type(*node.version, type.type, "the value", node.label);
    return type;
  }

  void apply_declarations(const BoundNode& node) {
    BoundValue& value = bound_.values[node.output];
    const auto declared = declarations_.find(value.name);
    if (declared == declarations_.end()) return;
    for (const Declaration& declaration : declared->second) {
      if (declaration.type && *declaration.type != value.type.type) {
        fail(ErrorCode::invalid_model, "{}: output {} is declared as {}, but is {}", node.label, quote(value.name),
             to_string(*declaration.type), to_string(value.type.type));
      }
      const auto merged = merge(value.type.shape, declaration.shape);
      if (!merged) {
        fail(ErrorCode::invalid_model, "{}: output {} is declared with shape {}, but has {}", node.label,
             quote(value.name), to_string(declaration.shape), to_string(value.type.shape));
      }
      value.type.shape = *merged;
    }
  }

  /// After a finding: the node's outputs exist, but nothing that depends on them is checked.
  void give_up_outputs(const Node& node) {
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      if (!by_name_.contains(output)) define(output, {}, "value");
      given_up_.insert(by_name_.at(output));
    }
  }

  void bind_output(const ValueInfo& info) {
    const auto known = by_name_.find(info.name);
    if (known == by_name_.end()) {
      fail(ErrorCode::invalid_model, "{}: output {} is never made", graph_.file, quote(info.name));
    }
    bound_.outputs.push_back(known->second);
  }

  struct Declaration {
    std::optional<ElementType> type;
    PartialShape shape;
  };

  const Graph& graph_;
  Findings& findings_;
  BoundGraph bound_;
  OpsetVersions opsets_;
  std::unordered_map<std::string, ValueIndex> by_name_;
  std::unordered_map<std::string, std::size_t> symbol_numbers_;
  std::unordered_map<std::string, std::vector<Declaration>> declarations_;
  std::unordered_set<std::string> made_by_nodes_;
  std::unordered_set<ValueIndex> given_up_;
};

}  // namespace

BoundGraph bind(const Graph& graph, Findings& findings) { return Binder(graph, findings).bind(); }

}  // namespace binet
