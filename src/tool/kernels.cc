// binet kernels: which instruction sets there are, which one is used and why, and the kernels that serve each type.
#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "binet/machine.h"
#include "tool/commands.h"

namespace binet::tool {
namespace {

struct Options {
  bool json = false;
};

std::string_view state_of(const TargetDescription& target, bool is_forced) {
  if (target.is_used) return is_forced ? "used: BINET_TARGET names it" : "used: the best that this CPU has";
  return target.is_supported ? "this CPU has it" : "this CPU does not have it";
}

bool is_forced() {
  const char* name = std::getenv("BINET_TARGET");
  return name != nullptr && *name != '\0';
}

void print_text() {
  fmt::print("instruction sets\n");
  for (const TargetDescription& target : describe_targets()) {
    fmt::print("  {:<9} {} (needs {})\n", target.name, state_of(target, is_forced()), target.needs);
  }
  std::string operation;
  for (const KernelDescription& kernel : describe_kernels()) {
    if (kernel.operation != operation) fmt::print("{}\n", kernel.operation);
    operation = kernel.operation;
    fmt::print("  {:<5} {:<9} {}\n", to_string(kernel.type), kernel.target, kernel.kernel);
  }
}

void print_json() {
  nlohmann::ordered_json targets = nlohmann::ordered_json::array();
  for (const TargetDescription& t : describe_targets()) {
    targets.push_back({{"name", t.name}, {"needs", t.needs}, {"supported", t.is_supported}, {"used", t.is_used}});
  }
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  for (const KernelDescription& k : describe_kernels()) {
    kernels.push_back(
        {{"operation", k.operation}, {"type", to_string(k.type)}, {"target", k.target}, {"kernel", k.kernel}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"targets", targets}, {"kernels", kernels}}.dump(2));
}

}  // namespace

void add_kernels(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("kernels", "Show which kernel serves what on this CPU, and why");
  command->add_flag("--json", options->json, "As JSON");
  command->callback([options, &chosen] {
    chosen = [options] {
      options->json ? print_json() : print_text();
      return kDone;
    };
  });
}

}  // namespace binet::tool
