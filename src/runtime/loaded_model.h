// Room: runtime. The inside of a Model: its graph, and what its sessions share.
#pragma once

#include <memory>

#include "binet/model.h"
#include "graph/bound_graph.h"
#include "runtime/constant_store.h"

namespace binet {

struct LoadedModel {
  explicit LoadedModel(BoundGraph bound) : graph(std::move(bound)) {}

  const BoundGraph graph;
  mutable ConstantStore constants;
};

struct Model::Access {
  static const std::shared_ptr<const LoadedModel>& inside(const Model& model) { return model.inside_; }
  static Model make(BoundGraph graph) {
    Model model;
    model.inside_ = std::make_shared<const LoadedModel>(std::move(graph));
    return model;
  }
};

}  // namespace binet
