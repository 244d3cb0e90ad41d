#include "tool/inspect_page.h"

#include <fmt/format.h>

#include <map>

#include "binet/tensor_file.h"

namespace binet::tool {
namespace {

constexpr std::string_view kStyle = R"(
:root { --ink: #1d2433; --soft: #5c667a; --line: #d9dee8; --wash: #f5f7fb; --accent: #2458c5; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaf2; --soft: #9aa5ba; --line: #343c4d; --wash: #1d2330; --accent: #8ab0ff; }
  body { background: #141922; }
}
body { color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
p.about { color: var(--soft); margin-top: .25rem; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th { color: var(--soft); font-weight: 600; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; }
td.code, span.code { font-family: ui-monospace, monospace; font-size: 13px; }
tr:target { background: var(--wash); }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
span.soft { color: var(--soft); }
)";

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

class Page {
 public:
  explicit Page(const Model& model) : model_(model) {
    for (const ValueDescription& value : model.values()) {
      anchors_.emplace(value.name, fmt::format("v{}", anchors_.size()));
      types_.emplace(value.name, fmt::format("{} {}", to_string(value.type), to_string(value.shape)));
    }
  }

  std::string write() {
    about();
    values("Inputs", model_.inputs());
    values("Outputs", model_.outputs(), false);
    nodes();
    values("Constants", model_.constants());
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
        "<title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
        escape(model_.file()), kStyle, body_);
  }

 private:
  void about() {
    body_ += fmt::format("<h1>{}</h1>\n<p class=\"about\">{}, IR version {}", escape(model_.file()), model_.format(),
                         model_.ir_version());
    for (const OpsetDescription& opset : model_.opsets()) {
      body_ += fmt::format(" · {} {}", escape(opset.domain), opset.version);
    }
    if (!model_.graph_name().empty()) body_ += fmt::format(" · graph {}", escape(model_.graph_name()));
    if (!model_.producer().empty()) body_ += fmt::format(" · made by {}", escape(model_.producer()));
    body_ += "</p>\n";
  }

  /// The id of the row where a value is defined; given out once.
  std::string define(const std::string& name) {
    const auto anchor = anchors_.find(name);
    return anchor == anchors_.end() || !defined_.emplace(name, true).second ? ""
                                                                            : fmt::format(" id=\"{}\"", anchor->second);
  }

  std::string link(const std::string& name) {
    if (name.empty()) return "<span class=\"soft\">left out</span>";
    return fmt::format("<a href=\"#{}\">{}</a> <span class=\"soft\">{}</span>", anchors_[name], escape(name),
                       escape(types_[name]));
  }

  void values(std::string_view title, const std::vector<ValueDescription>& rows, bool are_definitions = true) {
    body_ += fmt::format("<h2>{} ({})</h2>\n", title, rows.size());
    if (rows.empty()) return;
    body_ += "<div class=\"wide\"><table><tr><th>name</th><th>type</th><th>shape</th><th></th></tr>\n";
    for (const ValueDescription& row : rows) {
      body_ += fmt::format(
          "<tr{}><td class=\"code\">{}</td><td class=\"code\">{}</td><td class=\"code\">{}</td><td>{}</td></tr>\n",
          are_definitions ? define(row.name) : "",
          are_definitions ? escape(row.name)
                          : fmt::format("<a href=\"#{}\">{}</a>", anchors_[row.name], escape(row.name)),
          to_string(row.type), escape(to_string(row.shape)), row.has_default ? "has a default" : "");
    }
    body_ += "</table></div>\n";
  }

  void nodes() {
    const std::vector<NodeDescription> rows = model_.nodes();
    body_ += fmt::format("<h2>Nodes ({})</h2>\n", rows.size());
    if (rows.empty()) return;
    body_ +=
        "<div "
        "class=\"wide\"><table><tr><th>operator</th><th>name</th><th>attributes</th><th>inputs</th><th>output</th></"
        "tr>\n";
    for (const NodeDescription& row : rows) {
      std::string attributes;
      for (const AttributeDescription& a : row.attributes)
        attributes += fmt::format("{}={}<br>", escape(a.name), escape(a.value));
      std::string inputs;
      for (const std::string& input : row.inputs) inputs += link(input) + "<br>";
      std::string outputs;
      for (const std::string& output : row.outputs) outputs += link(output);
      body_ += fmt::format(
          "<tr{}><td class=\"code\">{}-{}</td><td class=\"code\">{}</td><td class=\"code\">{}</td>"
          "<td class=\"code\">{}</td><td class=\"code\">{}</td></tr>\n",
          define(row.outputs.front()), row.operation, row.version, escape(row.name), attributes, inputs, outputs);
    }
    body_ += "</table></div>\n";
  }

  const Model& model_;
  std::map<std::string, std::string> anchors_;
  std::map<std::string, std::string> types_;
  std::map<std::string, bool> defined_;
  std::string body_;
};

}  // namespace

void write_page(const Model& model, const std::string& path) {
  const std::string text = Page(model).write();
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace binet::tool
