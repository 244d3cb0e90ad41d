// The binet program: command line, exit status, and the one line that a refusal prints.
#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>

#include "binet/binet.h"
#include "tool/commands.h"
#include "tool/printable.h"

namespace {

int refuse(const char* message) {
  fmt::print(stderr, "binet: {}\n", binet::tool::printable(message));
  return binet::tool::kRefused;
}

int run(int argc, char** argv) {
  using namespace binet::tool;
  CLI::App app("Runs ONNX and OpenVINO models on a CPU.", "binet");
  app.set_version_flag("--version", "binet " + std::string(binet::version()), "Print the version");
  app.require_subcommand(1);
  app.footer("Exit status: 0 done; 1 refused, or different from what was expected; 2 usage.");
  Action chosen;
  add_run(app, chosen);
  add_test(app, chosen);
  add_check(app, chosen);
  add_inspect(app, chosen);
  add_bench(app, chosen);
  add_operators(app, chosen);
  add_kernels(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::RequiredError& error) {
    const bool is_unknown = app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-';
    if (is_unknown)
      fmt::print(stderr, "binet: there is no subcommand '{}'; see 'binet --help'\n", argv[1]);
    else
      fmt::print(stderr, "binet: {}; see 'binet --help'\n", error.what());
    return kUsage;
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "binet: {}; see 'binet --help'\n", error.what());
    return kUsage;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int status = run(argc, argv);
    // What was printed is part of the result: a full disk or a closed pipe must not look like success.
    if (std::fflush(stdout) != 0) return refuse("cannot write to standard output");
    return status;
  } catch (const std::bad_alloc&) {
    return refuse("out of memory");
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}
