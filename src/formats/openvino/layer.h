// Room: formats. One layer of an OpenVINO model as its element says it, before anything is looked up.
#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace binet::openvino {

/// A port; of an output port the declared type and shape are kept. A port without extents declares no shape: that is
/// how both a scalar and a value of unknown rank are written.
struct Port {
  std::uint64_t id = 0;
  std::vector<std::string> names;
  std::optional<ElementType> type;
  std::optional<std::vector<Dimension>> shape;
};

struct Layer {
  std::uint64_t id = 0;
  std::string name;
  std::string type;
  std::string version;  ///< the operation set
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<std::pair<std::string, std::string>> data;  ///< the attributes of <data>
  std::vector<std::string> output_names;                  ///< of a Result: the tensor names of the model's output

  /// The attribute of <data>; null if it is not there.
  [[nodiscard]] const std::string* attribute(std::string_view wanted) const;
};

/// "layer 'scale' (Multiply)", for messages.
[[nodiscard]] std::string label(const Layer& layer);

/// Reads a <layer>. Throws Error, whose message starts with `file`, where something needed is missing or unreadable.
[[nodiscard]] Layer read_layer(pugi::xml_node element, const std::string& file);

/// A number without sign from an attribute that must be there; `where` starts the message.
[[nodiscard]] std::uint64_t read_number(pugi::xml_node element, const char* attribute, const std::string& where);

}  // namespace binet::openvino
