// Room: runtime. The plan: a graph for known input shapes, as an ordered list of kernel calls with every address
// decided but those of the inputs, the outputs and the arena.
//
// Types, shapes, versions and the instruction set are settled when a Plan is made. Before a run, resolve() turns its
// slots into addresses; a run is then one call after another.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/target.h"
#include "binet/session.h"
#include "runtime/loaded_model.h"
#include "runtime/memory_count.h"
#include "runtime/prepare.h"
#include "runtime/shape_binding.h"
#include "threads/thread_pool.h"

namespace binet {

class Plan {
 public:
  /// Throws Error where the shapes do not fit, or a limit is passed.
  Plan(std::shared_ptr<const LoadedModel> model, InputShapes shapes, const Target& target, const ThreadPool& pool,
       const MemoryLimits& limits);

  [[nodiscard]] const InputShapes& shapes() const noexcept { return shapes_; }
  [[nodiscard]] std::size_t arena_bytes() const noexcept { return arena_bytes_; }
  /// A step has enough to do for several threads; an estimate, on the side of yes.
  [[nodiscard]] bool uses_threads() const noexcept { return uses_threads_; }

  [[nodiscard]] ElementType output_type(std::size_t output) const;
  [[nodiscard]] const Shape& output_shape(std::size_t output) const;

  /// The addresses of one run: by graph input (null where the default is used), by graph output, and arena_bytes().
  struct Places {
    std::span<const std::byte* const> inputs;
    std::span<std::byte* const> outputs;
    std::byte* arena = nullptr;
  };
  void resolve(const Places& places, std::vector<const std::byte*>& addresses) const;

  /// Computes the outputs. May be called from several threads at once, with different outputs and arenas.
  void run(std::span<const std::byte* const> addresses, const ThreadPool& pool) const;
  /// The same, with the time of each step.
  void run(std::span<const std::byte* const> addresses, const ThreadPool& pool,
           std::span<std::int64_t> nanoseconds) const;

  [[nodiscard]] std::vector<StepDescription> describe() const;
  [[nodiscard]] std::size_t step_count() const noexcept { return steps_.size(); }

 private:
  /// Where an address comes from.
  struct Slot {
    enum class Kind : std::uint8_t { fixed, arena, input, output };
    Kind kind = Kind::fixed;
    std::size_t number = 0;  ///< an offset in the arena; the number of an input or output
    const std::byte* address = nullptr;
  };
  /// Its addresses are `inputs` operands from `first` on, then the output, then the workspace.
  struct Step {
    std::unique_ptr<KernelCall> call;
    std::size_t first = 0;
    std::size_t inputs = 0;
    std::size_t node = 0;
    bool output_is_read_next = false;
  };
  /// An output of the graph that is an input, a constant, or another output too.
  struct Copy {
    std::size_t from = 0;  ///< a slot; the next one is where to
    std::size_t bytes = 0;
  };

  void check_tensors(const MemoryCount& memory) const;
  void place(Prepared prepared, MemoryCount& memory);
  [[nodiscard]] std::vector<Slot> slots_of_values(const std::vector<std::size_t>& arena_offsets) const;
  void add_step(PreparedStep prepared, const std::vector<Slot>& slot_of);
  void add_copies(const std::vector<Slot>& slot_of);
  void run_step(const Step& step, const std::byte* const* addresses, const ThreadPool& pool) const;
  void copy_outputs(std::span<const std::byte* const> addresses) const;
  [[nodiscard]] std::size_t bytes_of(ValueIndex value) const;
  [[nodiscard]] double bytes_touched(const BoundNode& node) const;

  std::shared_ptr<const LoadedModel> model_;
  const BoundGraph& graph_;
  InputShapes shapes_;
  std::vector<ValueType> types_;
  std::vector<Step> steps_;
  std::vector<Copy> copies_;
  std::vector<Slot> slots_;
  std::size_t workspace_offset_ = 0;
  std::size_t arena_bytes_ = 0;
  bool uses_threads_ = false;
  std::vector<std::shared_ptr<const Tensor>> constants_;  ///< what fixed slots point to
  std::vector<std::shared_ptr<const std::byte>> forms_;   ///< likewise
};

}  // namespace binet
