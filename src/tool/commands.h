// The binet program: one file a subcommand. Each adds its options to the command line, and says what to do when it is
// chosen.
//
// No logic of the library's is here; only its public headers are used.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace binet::tool {

/// What the chosen subcommand does; returns the exit status. Throws binet::Error for a refusal.
using Action = std::function<int()>;

/// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kRefused = 1;  ///< refused, or different from what was expected
inline constexpr int kUsage = 2;

void add_run(CLI::App& app, Action& chosen);
void add_test(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_inspect(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_operators(CLI::App& app, Action& chosen);
void add_kernels(CLI::App& app, Action& chosen);

}  // namespace binet::tool
