// binet check: every rule of the standard that a model breaks.
#include <fmt/core.h>

#include <memory>

#include "binet/model.h"
#include "tool/commands.h"

namespace binet::tool {
namespace {

int check(const std::string& path) {
  const std::vector<std::string> findings = check_model(path);
  for (const std::string& finding : findings) fmt::print(stderr, "binet: {}\n", finding);
  if (!findings.empty()) {
    fmt::print("{}: {} finding{}\n", path, findings.size(), findings.size() == 1 ? "" : "s");
    return kRefused;
  }
  const Model model = load_model(path);
  fmt::print("{}: no findings ({}, IR version {}, {} nodes, {} constants)\n", path, model.format(), model.ir_version(),
             model.nodes().size(), model.constants().size());
  return kDone;
}

}  // namespace

void add_check(CLI::App& app, Action& chosen) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("check", "Check a model against its standard; list everything that is wrong");
  command->add_option("MODEL", *path, "The model file: .onnx, or OpenVINO's .xml with its .bin beside it")->required();
  command->callback([path, &chosen] { chosen = [path] { return check(*path); }; });
}

}  // namespace binet::tool
