// Room: formats. From the .xml and .bin files of an OpenVINO model, IR version 10 or 11, to a Graph.
//
// https://docs.openvino.ai/2024/documentation/openvino-ir-format.html
// Parameter becomes an input, Const an initializer in place, Result an output; every other layer a node whose domain is
// its operation set and whose attributes are text. Metadata (rt_info and elements that are not known) is passed over.
//
// Names are those that OpenVINO gives: the first tensor name of the port (`names`), else the layer's name, with
// ".N" for output N of a layer that has several. Where that name is taken, "#id" follows it.
//
// The structure (layers, ports, edges) is checked first. While it is broken, the Graph stays empty: what would be found
// in it would mostly follow from what was found already.
#pragma once

#include <string>
#include <string_view>

#include "formats/openvino/weights.h"
#include "graph/findings.h"
#include "graph/graph.h"

namespace binet::openvino {

struct ModelBytes {
  std::string name;  ///< for messages
  std::string_view xml;
  Weights weights;
  OpenVinoLimits limits;
};

[[nodiscard]] Graph read_model(ModelBytes model, Findings& findings);

}  // namespace binet::openvino
