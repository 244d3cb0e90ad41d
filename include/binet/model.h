// A model: a graph that has been read from a file, checked, and bound to the operator versions it means.
//
// A Model is a handle to something that never changes: copies are cheap, and may be used from several threads at once.
// Weights are views of the mapped file, which stays mapped as long as a Model or a Session made of it exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "binet/export.h"
#include "binet/tensor.h"

namespace binet {

struct LoadedModel;

/// One extent of a declared shape: a number, or a name (the same name means the same number), or neither (open).
/// An open one may have bounds.
struct Dimension {
  std::optional<std::int64_t> extent;
  std::string symbol;
  std::int64_t least = 0;
  std::optional<std::int64_t> most = std::nullopt;
};

/// A value of the graph: its name, its element type, its shape as far as it is known (nothing: not even the rank).
struct ValueDescription {
  std::string name;
  ElementType type = ElementType::f32;
  std::optional<std::vector<Dimension>> shape;
  bool has_default = false;  ///< an input that may be left out, because an initializer has its name
};

/// "(2, N, ?, 1..8)"; "(...)" if not even the rank is known.
[[nodiscard]] BINET_EXPORT std::string to_string(const std::optional<std::vector<Dimension>>& shape);

struct AttributeDescription {
  std::string name;
  std::string value;  ///< as text
};

struct NodeDescription {
  std::string name;       ///< may be empty
  std::string operation;  ///< "Gemm"
  std::string domain;     ///< "ai.onnx"
  int version = 0;        ///< the operator's version that applies, such as 13
  std::vector<AttributeDescription> attributes;
  std::vector<std::string> inputs;  ///< an empty name is an input left out
  std::vector<std::string> outputs;
};

struct OpsetDescription {
  std::string domain;
  std::int64_t version = 0;
};

class BINET_EXPORT Model {
 public:
  /// Inputs and outputs in the order of the graph.
  [[nodiscard]] std::vector<ValueDescription> inputs() const;
  [[nodiscard]] std::vector<ValueDescription> outputs() const;
  /// Initializers and the values of Constant nodes.
  [[nodiscard]] std::vector<ValueDescription> constants() const;
  /// Every value: inputs, constants, and what the nodes make.
  [[nodiscard]] std::vector<ValueDescription> values() const;
  /// The nodes in the order in which they run; Constant nodes have become constants.
  [[nodiscard]] std::vector<NodeDescription> nodes() const;

  [[nodiscard]] const std::string& file() const;
  [[nodiscard]] const std::string& graph_name() const;
  [[nodiscard]] const std::string& format() const;    ///< "ONNX" or "OpenVINO IR"
  [[nodiscard]] const std::string& producer() const;  ///< may be empty
  [[nodiscard]] std::int64_t ir_version() const;
  [[nodiscard]] std::vector<OpsetDescription> opsets() const;

  struct Access;  // for Binet's own code

 private:
  friend struct Access;
  std::shared_ptr<const LoadedModel> inside_;
};

/// How large the XML of an OpenVINO model may be before it is refused. The tree in memory takes up to about sixteen
/// times the bytes.
struct OpenVinoLimits {
  std::size_t xml_bytes = std::size_t{64} << 20;
  std::size_t layers = 1'000'000;
  std::size_t depth = 128;  ///< of elements within elements
};

struct LoadOptions {
  OpenVinoLimits openvino;
};

/// Reads and checks a model file: ONNX (.onnx), or OpenVINO (.xml, its weights beside it in the .bin file of the same
/// name). A file without either ending is taken for what its first bytes show. Throws Error at the first rule that is
/// broken.
[[nodiscard]] BINET_EXPORT Model load_model(const std::filesystem::path& path, const LoadOptions& options = {});

/// The same for the bytes of an ONNX model in memory, which are copied. External data is refused: there is no folder.
[[nodiscard]] BINET_EXPORT Model load_model(std::span<const std::byte> bytes, const std::string& name = "model");

/// The same for an OpenVINO model in memory: the XML, and the bytes of its .bin file, which are copied.
[[nodiscard]] BINET_EXPORT Model load_openvino_model(std::string_view xml, std::span<const std::byte> weights,
                                                     const std::string& name = "model",
                                                     const LoadOptions& options = {});

/// Every rule that the model breaks, a line each; empty for a good one. Does not throw for a bad model.
[[nodiscard]] BINET_EXPORT std::vector<std::string> check_model(const std::filesystem::path& path,
                                                                const LoadOptions& options = {});

}  // namespace binet
