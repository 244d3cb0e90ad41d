#include "graph/parse_setting.h"

#include <charconv>
#include <system_error>

#include "base/text.h"

namespace binet {
namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trim(text);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Number>
std::optional<std::vector<Number>> parse_list(std::string_view text) {
  std::vector<Number> values;
  if (trim(text).empty()) return values;
  for (const std::string_view part : split(text, ',')) {
    const auto value = parse_number<Number>(part);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<std::int64_t> parse_boolean(std::string_view text) {
  text = trim(text);
  if (text == "true" || text == "True" || text == "1") return 1;
  if (text == "false" || text == "False" || text == "0") return 0;
  return std::nullopt;
}

/// An optional value as an optional setting.
template <class T>
std::optional<AttributeSetting> as_setting(std::optional<T> value) {
  if (!value) return std::nullopt;
  return AttributeSetting(*std::move(value));
}

}  // namespace

std::optional<AttributeSetting> parse_setting(AttributeKind kind, std::string_view text) {
  switch (kind) {
    case AttributeKind::integer:
      return as_setting(parse_number<std::int64_t>(text));
    case AttributeKind::real:
      return as_setting(parse_number<float>(text));
    case AttributeKind::text:
      return AttributeSetting(std::string(text));
    case AttributeKind::integers:
      return as_setting(parse_list<std::int64_t>(text));
    case AttributeKind::reals:
      return as_setting(parse_list<float>(text));
    case AttributeKind::boolean:
      return as_setting(parse_boolean(text));
    case AttributeKind::tensor:
    case AttributeKind::unsupported:
      break;
  }
  return std::nullopt;
}

}  // namespace binet
