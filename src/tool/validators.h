// The binet program: checks of option values that are mistakes of usage, whatever the model.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace binet::tool {

/// "NAME=VALUE" with something on both sides of the last '='.
[[nodiscard]] CLI::Validator is_assignment(const std::string& form);

/// "NAME=N" with a number of at least 0.
[[nodiscard]] CLI::Validator is_extent();

/// A whole number from 0 to 4096.
[[nodiscard]] CLI::Validator is_thread_count();

/// The two sides of a value that is_assignment() has accepted. A name may hold a '=', so the last one counts.
[[nodiscard]] std::pair<std::string, std::string> cut_assignment(const std::string& text);

/// The names and numbers of values that is_extent() has accepted.
[[nodiscard]] std::map<std::string, std::int64_t> cut_extents(const std::vector<std::string>& texts);

}  // namespace binet::tool
