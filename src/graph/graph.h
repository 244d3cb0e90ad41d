// Room: graph. What a model file says, before anything is interpreted: nodes, values and constants under their names.
//
// The readers in formats/ make a Graph; bind() (bind.h) turns it into a BoundGraph. A Graph may be wrong in every way
// that a file can be wrong and still be well formed: names that do not exist, cycles, unknown operators.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "binet/model.h"
#include "binet/tensor.h"

namespace binet {

/// What a file declares of a value. `type` is missing where the file gives none.
struct ValueInfo {
  std::string name;
  std::optional<ElementType> type;
  std::optional<std::vector<Dimension>> shape;
};

/// An attribute of a kind that no supported operator takes, such as a sub-graph; only its kind is kept.
struct OtherAttribute {
  std::string_view kind;
};

/// An attribute as text, in a format that does not say what kind it is; its operator's rule decides how it is read.
struct TextAttribute {
  std::string text;
};

using AttributeValue = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                                    Tensor, TextAttribute, OtherAttribute>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// An operator applied to values. An empty input name means that the input is left out.
struct Node {
  std::string name;
  std::string domain;
  std::string op_type;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
};

struct Initializer {
  std::string name;
  Tensor value;
};

struct OpsetImport {
  std::string domain;
  std::int64_t version = 0;
};

struct Graph {
  std::string file;  ///< for messages
  std::string name;
  std::string format;    ///< "ONNX" or "OpenVINO IR"
  std::string producer;  ///< as the file names it; may be empty
  std::int64_t ir_version = 0;
  std::vector<OpsetImport> opset_imports;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  ///< declarations of values in between
  std::vector<Initializer> initializers;
  std::vector<Node> nodes;
  std::vector<std::shared_ptr<const MappedFile>> files;  ///< what constants may be views of
};

/// The standard's own domain: ONNX writes it as "" or "ai.onnx".
inline constexpr std::string_view kOnnxDomain = "ai.onnx";

}  // namespace binet
