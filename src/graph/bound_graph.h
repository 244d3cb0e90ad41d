// Room: graph. A graph in which every name is resolved and every node has become one version of one operator.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "operators/operator_version.h"
#include "tensor/partial_shape.h"

namespace binet {

/// The place of a value in BoundGraph::values.
using ValueIndex = std::size_t;
inline constexpr ValueIndex kLeftOut = std::numeric_limits<ValueIndex>::max();

/// What an open extent of an input may be.
struct ExtentBounds {
  std::int64_t least = 0;
  std::optional<std::int64_t> most;
};

struct BoundValue {
  std::string name;
  ValueType type;                  ///< declared and inferred, merged
  std::optional<Tensor> constant;  ///< the value itself; for an input, its default
  bool is_input = false;
  std::vector<ExtentBounds> bounds = {};  ///< of an input: one for each extent, or none at all
};

struct BoundNode {
  std::string label;  ///< "model.onnx: node 'scale' (Mul-7)", the beginning of messages
  std::string name;
  const OperatorVersion* version = nullptr;
  std::vector<AttributeSetting> attributes;
  std::vector<ValueIndex> inputs;  ///< one for each input name of the version, kLeftOut where absent
  ValueIndex output = kLeftOut;

  /// The node as its operator sees it, each value's type looked up with `type_of(ValueIndex) -> const ValueType&`;
  /// `storage` holds the pointers that the view refers to.
  template <class TypeOf>
  [[nodiscard]] NodeView view(const TypeOf& type_of, std::vector<const ValueType*>& storage) const {
    storage.clear();
    for (const ValueIndex input : inputs) storage.push_back(input == kLeftOut ? nullptr : &type_of(input));
    return {*version, attributes, storage};
  }
};

struct BoundGraph {
  std::string file;
  std::string name;
  std::string format;
  std::string producer;
  std::int64_t ir_version = 0;
  std::vector<std::pair<std::string, std::int64_t>> opset_imports;

  std::vector<BoundValue> values;
  std::vector<BoundNode> nodes;  ///< in an order in which they can run
  std::vector<ValueIndex> inputs;
  std::vector<ValueIndex> outputs;
  std::vector<std::string> symbols;  ///< names of the symbolic extents, by number

  std::vector<std::shared_ptr<const MappedFile>> files;  ///< what constants may be views of

  /// Tells the system that these bytes, if they are those of a file, will hardly be read again.
  void let_go(std::span<const std::byte> bytes) const noexcept {
    for (const auto& mapped : files) mapped->let_go(bytes);
  }
};

}  // namespace binet
