// Room: formats. TensorProto: a tensor in any of its encodings.
//
// Data in raw_data or in an external file becomes a view of the mapped bytes; typed fields (float_data, int32_data,
// ...) are converted into memory of their own. Every rule of onnx.proto about a tensor's fields is applied here.
#pragma once

#include <memory>
#include <string>

#include "binet/tensor.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/message.h"

namespace binet::onnx {

struct NamedTensorProto {
  std::string name;
  Tensor value;
};

/// Reads a TensorProto. `where` begins the messages ("model.onnx: initializer 'W'" is completed with the tensor's
/// name); `owner` keeps the bytes of the message alive.
[[nodiscard]] NamedTensorProto read_tensor(Message message, const std::string& where, ExternalFiles& external,
                                           const std::shared_ptr<const void>& owner);

}  // namespace binet::onnx
