// Room: runtime. The inside of a Model, for the rest of the runtime.
#pragma once

#include <memory>

#include "binet/model.h"
#include "graph/bound_graph.h"

namespace binet {

struct Model::Access {
  static const std::shared_ptr<const BoundGraph>& graph(const Model& model) { return model.graph_; }
  static Model make(std::shared_ptr<const BoundGraph> graph) {
    Model model;
    model.graph_ = std::move(graph);
    return model;
  }
};

}  // namespace binet
