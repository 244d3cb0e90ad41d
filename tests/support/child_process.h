// Runs a program, as a user's shell would, and says how it ended.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace binet::test {

struct Finished {
  bool timed_out = false;  ///< it was killed because the time was up
  int signal = 0;          ///< the signal that ended it, or 0
  int exit_status = -1;    ///< its exit status, or -1 if a signal ended it
  std::string out;         ///< the start of what it wrote to stdout, at most kMaxOutput bytes
  std::string err;         ///< the same for stderr
};

inline constexpr std::size_t kMaxOutput = std::size_t{1} << 20;

/// Runs `command` (a path, then its arguments) in `folder` with an empty stdin, and waits for its end, at most `limit`.
/// Throws std::system_error if it cannot be started.
[[nodiscard]] Finished run(const std::vector<std::string>& command, const std::filesystem::path& folder,
                           std::chrono::milliseconds limit = std::chrono::seconds(10));

/// The lines of `text` that are not blank.
[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

}  // namespace binet::test
