// Room: formats. Shapes, element types and lists as an OpenVINO model writes them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace binet::openvino {

/// "3"; "?" or "-1" for any; "1..8", "2.." and "..8" for a range. Nothing if it is none of these.
[[nodiscard]] std::optional<Dimension> parse_extent(std::string_view text);

/// A shape; `extents` is missing where the text is "...", a shape of unknown rank.
struct ShapeText {
  std::optional<std::vector<Dimension>> extents;
};
/// "2,?,1..8", "" for a scalar, "..." for any shape; nothing if it is none of these.
[[nodiscard]] std::optional<ShapeText> parse_shape(std::string_view text);

/// The type behind an `element_type` such as "f32", or behind a port's `precision` such as "FP32".
[[nodiscard]] std::optional<ElementType> parse_element_type(std::string_view text);

/// Names with commas between them; a comma in a name stands as "\,".
[[nodiscard]] std::vector<std::string> parse_names(std::string_view text);

}  // namespace binet::openvino
