#include "tool/validators.h"

#include <fmt/format.h>

#include <charconv>

namespace binet::tool {
namespace {

constexpr int kMostThreads = 4096;

bool is_cuttable(const std::string& text) {
  const std::size_t place = text.rfind('=');
  return place != std::string::npos && place != 0 && place + 1 != text.size();
}

template <class Number>
bool is_number(const std::string& text, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= 0 && value <= most;
}

}  // namespace

CLI::Validator is_assignment(const std::string& form) {
  const auto check = [form](std::string& text) {
    return is_cuttable(text) ? std::string() : fmt::format("'{}' must be {}", text, form);
  };
  return {check, "", "assignment"};
}

CLI::Validator is_extent() {
  const auto check = [](std::string& text) {
    const bool good = is_cuttable(text) && is_number(cut_assignment(text).second, INT64_MAX);
    return good ? std::string() : fmt::format("'{}' must be NAME=N with a number of at least 0", text);
  };
  return {check, "", "extent"};
}

CLI::Validator is_thread_count() {
  const auto check = [](std::string& text) {
    return is_number(text, kMostThreads) ? std::string() : fmt::format("'{}' must be 0 to {}", text, kMostThreads);
  };
  return {check, "", "threads"};
}

std::pair<std::string, std::string> cut_assignment(const std::string& text) {
  const std::size_t place = text.rfind('=');
  return {text.substr(0, place), text.substr(place + 1)};
}

std::map<std::string, std::int64_t> cut_extents(const std::vector<std::string>& texts) {
  std::map<std::string, std::int64_t> extents;
  for (const std::string& text : texts) {
    const auto [name, number] = cut_assignment(text);
    extents[name] = std::stoll(number);
  }
  return extents;
}

}  // namespace binet::tool
