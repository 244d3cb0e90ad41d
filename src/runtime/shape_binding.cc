#include "runtime/shape_binding.h"

#include "base/fail.h"
#include "base/text.h"
#include "tensor/shape.h"

namespace binet {
namespace {

class ShapeBinder {
 public:
  explicit ShapeBinder(const BoundGraph& graph)
      : graph_(graph), types_(graph.values.size()), symbols_(graph.symbols.size()) {}

  std::vector<ValueType> bind(const InputShapes& inputs) {
    for (ValueIndex i = 0; i < graph_.values.size(); ++i) {
      const BoundValue& value = graph_.values[i];
      if (value.constant) types_[i] = {value.constant->type(), value.constant->shape()};
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const ValueIndex index = graph_.inputs[i];
      if (inputs[i]) types_[index] = {graph_.values[index].type.type, *inputs[i]};
      check_declared(index, fmt::format("{}: input {}", graph_.file, quote(graph_.values[index].name)),
                     ErrorCode::invalid_argument);
      check_bounds(index);
    }
    for (const BoundNode& node : graph_.nodes) infer(node);
    return std::move(types_);
  }

 private:
  void infer(const BoundNode& node) {
    const NodeView view = node.view([this](ValueIndex i) -> const ValueType& { return types_[i]; }, storage_);
    try {
      types_[node.output] = node.version->infer(view);
    } catch (const Error& error) {
      fail(error.code(), "{}: {}", node.label, error.what());
    }
    const ValueType& type = types_[node.output];
    const auto elements = element_count(*type.shape);
    if (!elements || !byte_count(type.type, *elements)) {
      fail(ErrorCode::invalid_argument, "{}: the result would have shape {}, whose size does not fit", node.label,
           to_string(type.shape));
    }
    check_declared(node.output, fmt::format("{}: output {}", node.label, quote(graph_.values[node.output].name)),
                   ErrorCode::invalid_model);
  }

  /// Compares a value's shape with its declaration, and gives the symbols in it their value.
  void check_declared(ValueIndex index, const std::string& where, ErrorCode code) {
    const PartialShape& declared = graph_.values[index].type.shape;
    const PartialShape& actual = types_[index].shape;
    if (!declared) return;
    if (declared->size() != actual->size()) {
      fail(code, "{} has shape {}, of rank {}; declared is {}", where, to_string(actual), actual->size(),
           describe(*declared));
    }
    for (std::size_t i = 0; i < declared->size(); ++i) {
      const Extent extent = (*declared)[i];
      const Extent found = (*actual)[i];
      if (is_known(extent) && extent != found) {
        fail(code, "{} has shape {}; declared is {}", where, to_string(actual), describe(*declared));
      }
      if (!is_symbol(extent)) continue;
      std::optional<Extent>& value = symbols_[symbol_of(extent)];
      if (value && *value != found) {
        fail(code, "{} has shape {}; declared is {}, and {} is {} already", where, to_string(actual),
             describe(*declared), escape(graph_.symbols[symbol_of(extent)]), *value);
      }
      value = found;
    }
  }

  void check_bounds(ValueIndex index) const {
    const BoundValue& input = graph_.values[index];
    for (std::size_t i = 0; i < input.bounds.size(); ++i) {
      const ExtentBounds& bounds = input.bounds[i];
      const Extent found = (*types_[index].shape)[i];
      if (found >= bounds.least && (!bounds.most || found <= *bounds.most)) continue;
      fail(
          ErrorCode::invalid_argument, "{}: input {} has shape {}; its extent {} must be {}", graph_.file,
          quote(input.name), to_string(types_[index].shape), i,
          bounds.most ? fmt::format("{} to {}", bounds.least, *bounds.most) : fmt::format("at least {}", bounds.least));
    }
  }

  [[nodiscard]] std::string describe(const std::vector<Extent>& declared) const {
    std::string text = "(";
    for (const Extent extent : declared) {
      if (text.size() > 1) text += ", ";
      text += is_known(extent)    ? fmt::format("{}", extent)
              : is_symbol(extent) ? escape(graph_.symbols[symbol_of(extent)])
                                  : std::string("?");
    }
    return text + ")";
  }

  const BoundGraph& graph_;
  std::vector<ValueType> types_;
  std::vector<std::optional<Extent>> symbols_;
  std::vector<const ValueType*> storage_;
};

}  // namespace

std::vector<ValueType> bind_shapes(const BoundGraph& graph, const InputShapes& inputs) {
  return ShapeBinder(graph).bind(inputs);
}

std::optional<InputShapes> declared_input_shapes(const BoundGraph& graph) {
  InputShapes shapes;
  for (const ValueIndex index : graph.inputs) {
    const BoundValue& value = graph.values[index];
    if (value.constant) {
      shapes.emplace_back(std::nullopt);
    } else if (is_known(value.type.shape)) {
      shapes.emplace_back(*value.type.shape);
    } else {
      return std::nullopt;
    }
  }
  return shapes;
}

}  // namespace binet
