// binet operators: every operator version that is supported, as a table, as JSON, or as the README's table.
#include "binet/operators.h"

#include <fmt/core.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tool/commands.h"

namespace binet::tool {
namespace {

struct Options {
  bool json = false;
  bool markdown = false;
};

std::string join_types(const OperatorDescription& d) {
  std::string text;
  for (const ElementType type : d.types) text += (text.empty() ? "" : " ") + std::string(to_string(type));
  return text;
}

std::string join_attributes(const OperatorDescription& d) {
  std::string text;
  for (const AttributeRuleDescription& a : d.attributes) {
    text += (text.empty() ? "" : " ") + a.name + (a.default_value.empty() ? "" : "(" + a.default_value + ")");
  }
  return text.empty() ? "-" : text;
}

std::string count_inputs(const OperatorDescription& d) {
  const auto most = static_cast<int>(d.inputs.size());
  return d.min_inputs == most ? fmt::format("{}", most) : fmt::format("{}-{}", d.min_inputs, most);
}

void print_json(const std::vector<OperatorDescription>& operators) {
  // ordered_json keeps the keys as they are written here.
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const OperatorDescription& d : operators) {
    nlohmann::ordered_json attributes = nlohmann::ordered_json::array();
    for (const AttributeRuleDescription& a : d.attributes) {
      nlohmann::ordered_json value = nullptr;
      const bool is_text = a.type == "string";
      if (is_text && !a.default_value.empty()) value = a.default_value;
      if (!is_text && !a.default_value.empty()) value = nlohmann::ordered_json::parse(a.default_value);
      attributes.push_back({{"name", a.name}, {"type", a.type}, {"default", value}});
    }
    nlohmann::ordered_json types = nlohmann::ordered_json::array();
    for (const ElementType type : d.types) types.push_back(to_string(type));
    rows.push_back({{"name", d.name},
                    {"domain", d.domain},
                    {"since_version", d.since_version},
                    {"types", types},
                    {"min_inputs", d.min_inputs},
                    {"max_inputs", d.inputs.size()},
                    {"inputs", d.inputs},
                    {"attributes", attributes},
                    {"shape_rule", d.shape_rule},
                    {"changed", d.changed}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"operators", rows}}.dump(2));
}

void print_markdown(const std::vector<OperatorDescription>& operators) {
  fmt::print("| operator | since | element types | attributes (default) | inputs | shape | what changed |\n");
  fmt::print("|---|---|---|---|---|---|---|\n");
  for (const OperatorDescription& d : operators) {
    fmt::print("| {} | {} {} | {} | {} | {} | {} | {} |\n", d.name, d.domain, d.since_version, join_types(d),
               join_attributes(d), count_inputs(d), d.shape_rule, d.changed);
  }
}

void print_text(const std::vector<OperatorDescription>& operators) {
  for (const OperatorDescription& d : operators) {
    fmt::print("{}-{} ({})\n", d.name, d.since_version, d.domain);
    fmt::print("  types       {}\n", join_types(d));
    fmt::print("  attributes  {}\n", join_attributes(d));
    fmt::print("  inputs      {}\n", count_inputs(d));
    fmt::print("  shape       {}\n", d.shape_rule);
    fmt::print("  changed     {}\n", d.changed);
  }
}

int show(const Options& options) {
  const std::vector<OperatorDescription> operators = supported_operators();
  if (options.json)
    print_json(operators);
  else if (options.markdown)
    print_markdown(operators);
  else
    print_text(operators);
  return kDone;
}

}  // namespace

void add_operators(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("operators", "List the supported operator versions and their element types");
  CLI::Option* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--markdown", options->markdown, "As a Markdown table")->excludes(json);
  command->callback([options, &chosen] { chosen = [options] { return show(*options); }; });
}

}  // namespace binet::tool
