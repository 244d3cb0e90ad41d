// Room: formats. The edges of an OpenVINO model: which output port feeds which input port, and an order in which the
// layers can run.
#pragma once

#include <cstddef>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "formats/openvino/layer.h"
#include "graph/findings.h"

namespace binet::openvino {

/// An output port, by the places of its layer and of itself.
struct Source {
  std::size_t layer = 0;
  std::size_t port = 0;
};

/// For each layer, and each of its input ports, the port that feeds it.
using Wiring = std::vector<std::vector<std::optional<Source>>>;

/// Looks up both ends of every edge. A finding: an edge that leads to or from what does not exist, two edges into one
/// port, a port without an edge, two layers with one id. Nothing is returned if there was one.
[[nodiscard]] std::optional<Wiring> connect(const std::vector<Layer>& layers, pugi::xml_node edges,
                                            const std::string& file, Findings& findings);

/// The places of the layers, each after those that feed it, else in the order of the file. Throws Error if there is a
/// cycle.
[[nodiscard]] std::vector<std::size_t> running_order(const std::vector<Layer>& layers, const Wiring& wiring,
                                                     const std::string& file);

}  // namespace binet::openvino
