// The binet program: text from a file, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace binet::tool {

/// `text` with '?' for every control byte: names in a file may hold line ends and escape sequences.
[[nodiscard]] inline std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = '?';
  }
  return out;
}

}  // namespace binet::tool
