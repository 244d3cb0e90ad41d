// Room: formats. ValueInfoProto and TypeProto: what a model declares of a value.
#pragma once

#include <string>

#include "formats/onnx/message.h"
#include "graph/graph.h"

namespace binet::onnx {

/// Reads a ValueInfoProto into `value`, the name first, so that it is there even if the rest is refused. A value that
/// is not a tensor (a sequence, a map, ...) is refused: nothing here computes with one.
void read_value_info(Message message, const std::string& file, ValueInfo& value);

}  // namespace binet::onnx
