// Room: formats. AttributeProto: a name and a value of one of the kinds of onnx.proto.
#pragma once

#include <memory>
#include <string>

#include "formats/onnx/external_data.h"
#include "formats/onnx/message.h"
#include "graph/graph.h"

namespace binet::onnx {

/// Reads an AttributeProto. Its `type` field says which kind it is; files of IR version 1 have none, and then the field
/// that is there says it. Kinds that no supported operator takes become OtherAttribute.
[[nodiscard]] Attribute read_attribute(Message message, const std::string& where, ExternalFiles& external,
                                       const std::shared_ptr<const void>& owner);

}  // namespace binet::onnx
