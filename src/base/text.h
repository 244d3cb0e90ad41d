// Room: base. Text for messages: names that come from a file may hold anything, a message is one readable line.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace binet {

/// `text` with control bytes, quotes and backslashes escaped, cut with "..." after 80 bytes.
[[nodiscard]] std::string escape(std::string_view text);

/// The same in single quotes, for names.
[[nodiscard]] std::string quote(std::string_view text);

/// The fewest digits that read back as the same number, with an exponent from 1e+07 on and below 1e-04. fmt would do
/// the same, but with tables and arithmetic of its own in whoever calls it, 10 KB of code.
[[nodiscard]] std::string shortest_decimal(float value);

/// A non-negative decimal number and nothing else (no sign, no blank); nothing on overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(std::string_view text) noexcept;

/// `text` without blanks, tabs and line ends around it.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

/// The parts between the separators: one more than there are separators.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The texts, with the separator between them. Not fmt::join(): that brings fmt's reader of format specifications for
/// each type of text, 11 KB of code.
template <class Range>
[[nodiscard]] std::string join(const Range& texts, std::string_view separator);

/// The candidate nearest to `text` by edit distance, if it is near enough to be a slip of the pen.
template <class Range>
[[nodiscard]] std::optional<std::string_view> nearest_name(std::string_view text, const Range& candidates);

/// Single-character insertions, deletions and substitutions between two short texts, upper and lower case alike.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

template <class Range>
std::string join(const Range& texts, std::string_view separator) {
  std::string joined;
  for (const auto& text : texts) {
    if (&text != &*std::begin(texts)) joined += separator;
    joined += text;
  }
  return joined;
}

template <class Range>
std::optional<std::string_view> nearest_name(std::string_view text, const Range& candidates) {
  constexpr std::size_t kNear = 2;
  constexpr std::size_t kLongestName = 64;
  std::optional<std::string_view> best;
  std::size_t best_distance = kNear + 1;
  if (text.size() > kLongestName) return best;
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(text, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace binet
