// binet inspect: what a model is made of, as text, as JSON, or as a page.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "binet/error.h"
#include "tool/commands.h"
#include "tool/inspect_page.h"
#include "tool/printable.h"

namespace binet::tool {
namespace {

struct Options {
  std::string model;
  bool json = false;
  std::string html;
};

std::string type_of(const ValueDescription& value) {
  return printable(fmt::format("{} {}", to_string(value.type), to_string(value.shape)));
}

void print_values(std::string_view title, const std::vector<ValueDescription>& values) {
  fmt::print("\n{} ({})\n", title, values.size());
  std::size_t width = 0;
  for (const ValueDescription& value : values) width = std::max(width, value.name.size());
  for (const ValueDescription& value : values) {
    fmt::print("  {:<{}}  {}{}\n", printable(value.name), width, type_of(value),
               value.has_default ? "  has a default" : "");
  }
}

void print_text(const Model& model) {
  fmt::print("{}\n{}, IR version {}", model.file(), model.format(), model.ir_version());
  for (const OpsetDescription& opset : model.opsets()) fmt::print(", {} {}", printable(opset.domain), opset.version);
  if (!model.producer().empty()) fmt::print(", made by {}", printable(model.producer()));
  fmt::print("\n");
  if (!model.graph_name().empty()) fmt::print("graph {}\n", printable(model.graph_name()));
  print_values("inputs", model.inputs());
  print_values("outputs", model.outputs());
  print_values("constants", model.constants());

  const std::vector<NodeDescription> nodes = model.nodes();
  std::unordered_map<std::string, std::string> types;
  for (const ValueDescription& value : model.values()) types.emplace(value.name, type_of(value));
  const auto describe = [&](const std::string& name) {
    return name.empty() ? std::string("-") : fmt::format("{} {}", printable(name), types.at(name));
  };
  fmt::print("\nnodes ({})\n", nodes.size());
  for (const NodeDescription& node : nodes) {
    fmt::print("  {}-{}{}", node.operation, node.version, node.name.empty() ? "" : " '" + printable(node.name) + "'");
    for (const AttributeDescription& a : node.attributes) fmt::print(" {}={}", a.name, printable(a.value));
    fmt::print("\n");
    for (const std::string& input : node.inputs) fmt::print("    in   {}\n", describe(input));
    for (const std::string& output : node.outputs) fmt::print("    out  {}\n", describe(output));
  }
}

nlohmann::ordered_json to_json(const std::vector<ValueDescription>& values) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const ValueDescription& value : values) {
    nlohmann::ordered_json shape = nullptr;
    if (value.shape) {
      shape = nlohmann::ordered_json::array();
      for (const Dimension& d : *value.shape) {
        if (d.extent)
          shape.push_back(*d.extent);
        else if (d.symbol.empty())
          shape.push_back(nullptr);
        else
          shape.push_back(d.symbol);
      }
    }
    rows.push_back(
        {{"name", value.name}, {"type", to_string(value.type)}, {"shape", shape}, {"has_default", value.has_default}});
  }
  return rows;
}

void print_json(const Model& model) {
  nlohmann::ordered_json opsets = nlohmann::ordered_json::object();
  for (const OpsetDescription& opset : model.opsets()) opsets[opset.domain] = opset.version;
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const NodeDescription& node : model.nodes()) {
    nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
    for (const AttributeDescription& a : node.attributes) attributes[a.name] = a.value;
    nodes.push_back({{"name", node.name},
                     {"operator", node.operation},
                     {"domain", node.domain},
                     {"version", node.version},
                     {"attributes", attributes},
                     {"inputs", node.inputs},
                     {"outputs", node.outputs}});
  }
  const nlohmann::ordered_json page = {{"file", model.file()},
                                       {"format", model.format()},
                                       {"ir_version", model.ir_version()},
                                       {"producer", model.producer()},
                                       {"graph", model.graph_name()},
                                       {"opsets", opsets},
                                       {"inputs", to_json(model.inputs())},
                                       {"outputs", to_json(model.outputs())},
                                       {"constants", to_json(model.constants())},
                                       {"values", to_json(model.values())},
                                       {"nodes", nodes}};
  // Names in a file may be any bytes; JSON is UTF-8.
  fmt::print("{}\n", page.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

int inspect(const Options& options) {
  const Model model = load_model(options.model);
  if (!options.html.empty()) write_page(model, options.html);
  if (options.json)
    print_json(model);
  else if (options.html.empty())
    print_text(model);
  return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "Show a model's inputs, outputs, nodes and weights");
  command->add_option("MODEL", options->model, "The model file: .onnx, or OpenVINO's .xml with its .bin beside it")
      ->required();
  command->add_flag("--json", options->json, "As JSON");
  command->add_option("--html", options->html, "As a page, into this file")->type_name("FILE");
  command->callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

}  // namespace binet::tool
