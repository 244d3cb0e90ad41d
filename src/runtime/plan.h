// Room: runtime. The plan: a graph for known input shapes, as an ordered list of kernel calls with every address
// decided.
//
// Types, shapes, versions and the instruction set are settled when a Plan is made; running it only fills in pointers.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/target.h"
#include "binet/session.h"
#include "graph/bound_graph.h"
#include "runtime/shape_binding.h"
#include "threads/thread_pool.h"

namespace binet {

class Plan {
 public:
  /// `earlier`, if not null, is a plan of the same graph for other shapes: what it prepared of constants is shared.
  Plan(std::shared_ptr<const BoundGraph> graph, InputShapes shapes, const Target& target, int threads,
       const Plan* earlier);

  [[nodiscard]] const InputShapes& shapes() const noexcept { return shapes_; }

  /// Computes the graph's outputs. `inputs` has one tensor for each graph input, null where the default is used. May be
  /// called from several threads at once.
  [[nodiscard]] NamedTensors run(std::span<const Tensor* const> inputs, const ThreadPool& pool) const;

 private:
  struct Step {
    std::unique_ptr<KernelCall> call;
    std::vector<ValueIndex> inputs;
    std::vector<std::shared_ptr<const std::byte>> prepared;
    ValueIndex output = kLeftOut;
    std::size_t node = 0;
  };
  /// The memory of one run; kept for the next one.
  struct Context {
    AlignedBuffer arena;
    std::vector<const std::byte*> addresses;  ///< by value; null where nothing is needed
    std::vector<const std::byte*> operands;   ///< of the step that is running
  };

  [[nodiscard]] std::vector<bool> needed_nodes() const;
  void lower(const std::vector<bool>& needed, const Target& target, int threads, const Plan* earlier);
  void place_intermediates();
  [[nodiscard]] const Step* step_of_node(std::size_t node) const noexcept;

  [[nodiscard]] std::unique_ptr<Context> take_context() const;
  void give_back(std::unique_ptr<Context> context) const;

  std::shared_ptr<const BoundGraph> graph_;
  InputShapes shapes_;
  std::vector<ValueType> types_;
  std::vector<Step> steps_;
  std::vector<std::pair<ValueIndex, std::size_t>> arena_places_;  ///< value, offset
  std::vector<bool> made_in_place_;  ///< by graph output: computed straight into the output tensor
  std::size_t workspace_offset_ = 0;
  std::size_t arena_bytes_ = 0;

  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Context>> free_contexts_;
};

}  // namespace binet
