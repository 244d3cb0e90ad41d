// Room: runtime. The shapes of one run: every extent a number, every symbol one value.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/bound_graph.h"

namespace binet {

/// For each graph input its shape in this run, or nothing where its default is used.
using InputShapes = std::vector<std::optional<Shape>>;

/// The types and shapes of all values of the graph for these input shapes. Throws Error where a shape contradicts a
/// declaration or a symbol that is set already, where a shape rule is broken, or where a size does not fit.
[[nodiscard]] std::vector<ValueType> bind_shapes(const BoundGraph& graph, const InputShapes& inputs);

/// The input shapes that the model itself declares, if they leave nothing open.
[[nodiscard]] std::optional<InputShapes> declared_input_shapes(const BoundGraph& graph);

}  // namespace binet
