// Room: runtime. The inside of a Model: its graph, and what its sessions share.
#pragma once

#include <memory>

#include "binet/model.h"
#include "graph/bound_graph.h"
#include "runtime/constant_store.h"
#include "runtime/rewrite.h"

namespace binet {

struct LoadedModel {
  explicit LoadedModel(BoundGraph bound) : graph(std::move(bound)), rewritten(rewrite(graph)) {}

  /// What sessions compute: the same values with fewer nodes, where that can be.
  [[nodiscard]] const BoundGraph& to_run() const noexcept { return rewritten ? *rewritten : graph; }

  const BoundGraph graph;  ///< as the file has it
  const std::optional<BoundGraph> rewritten;
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
