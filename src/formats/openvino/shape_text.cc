#include "formats/openvino/shape_text.h"

#include <algorithm>
#include <limits>

#include "base/element_types.h"
#include "base/text.h"

namespace binet::openvino {
namespace {

std::optional<std::int64_t> parse_count(std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value || *value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<Dimension> parse_range(std::string_view least, std::string_view most) {
  Dimension dimension;
  if (!least.empty()) {
    const auto value = parse_count(least);
    if (!value) return std::nullopt;
    dimension.least = *value;
  }
  if (!most.empty()) {
    dimension.most = parse_count(most);
    if (!dimension.most || *dimension.most < dimension.least) return std::nullopt;
  }
  if (dimension.most == dimension.least) return Dimension{dimension.least, ""};
  return dimension;
}

}  // namespace

std::optional<Dimension> parse_extent(std::string_view text) {
  text = trim(text);
  if (text == "?" || text == "-1") return Dimension{};
  constexpr std::string_view kTo = "..";
  if (const std::size_t to = text.find(kTo); to != std::string_view::npos) {
    return parse_range(trim(text.substr(0, to)), trim(text.substr(to + kTo.size())));
  }
  const auto extent = parse_count(text);
  return extent ? std::optional(Dimension{*extent, ""}) : std::nullopt;
}

std::optional<ShapeText> parse_shape(std::string_view text) {
  text = trim(text);
  if (text.starts_with('[') && text.ends_with(']')) text = trim(text.substr(1, text.size() - 2));
  if (text == "...") return ShapeText{};
  ShapeText shape;
  shape.extents.emplace();
  if (text.empty()) return shape;
  for (const std::string_view part : split(text, ',')) {
    const auto dimension = parse_extent(part);
    if (!dimension) return std::nullopt;
    shape.extents->push_back(*dimension);
  }
  return shape;
}

std::optional<ElementType> parse_element_type(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  if (name.starts_with("fp")) name.erase(1, 1);
  if (name == "boolean") name = "bool";
  return element_type_from_name(name);
}

std::vector<std::string> parse_names(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  const auto finish = [&] {
    if (!name.empty()) names.push_back(std::exchange(name, ""));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1).starts_with(',')) {
      name += text[++i];
    } else if (text[i] == ',') {
      finish();
    } else {
      name += text[i];
    }
  }
  finish();
  return names;
}

}  // namespace binet::openvino
