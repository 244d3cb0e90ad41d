// Room: formats. From the bytes of an .onnx file to a Graph (onnx/docs/IR.md, IR versions 1 to 13).
//
// The protobuf is read in place: names are copied, tensor data stays in the file's bytes. Sub-graphs, functions and
// training information are not interpreted; a node that needs them is refused later, by its operator. What is checked
// here is what can be known without looking a name up.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/findings.h"
#include "graph/graph.h"

namespace binet::onnx {

struct ModelBytes {
  std::string name;                             ///< for messages
  std::string_view bytes;                       ///< the ModelProto
  std::shared_ptr<const void> owner;            ///< keeps `bytes` alive; tensors of the Graph share it
  std::optional<std::filesystem::path> folder;  ///< where external data may lie
};

[[nodiscard]] Graph read_model(const ModelBytes& model, Findings& findings);

}  // namespace binet::onnx
