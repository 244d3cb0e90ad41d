// Room: formats. The XML of an OpenVINO model as a tree, after checks that keep a hostile file from costing more than
// its size.
//
// pugixml reads the tree, and is lenient. So the bytes are walked once before: no declarations (DOCTYPE, and with it
// entities of one's own), no depth beyond the limit, one root element, no reference that does not stand for a
// character. What is left for pugixml to find is whether tags and attributes are written as they must be.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace binet::openvino {

class XmlDocument {
 public:
  /// Copies what it needs of `bytes`. Throws Error, whose message starts with `file`, unless they are well formed and
  /// within the limits.
  XmlDocument(const std::string& file, std::string_view bytes, const OpenVinoLimits& limits);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }

 private:
  pugi::xml_document document_;
};

}  // namespace binet::openvino
