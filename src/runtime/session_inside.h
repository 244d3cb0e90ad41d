// Room: runtime. What a session consists of, and what it shares with its bindings.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/aligned_buffer.h"
#include "binet/session.h"
#include "runtime/plan.h"

namespace binet {

/// The memory of one run of Session::run(), kept for the next one.
struct Scratch {
  AlignedBuffer arena;
  std::vector<const std::byte*> addresses;
};

struct Session::Impl {
  Impl(std::shared_ptr<const LoadedModel> loaded, const SessionOptions& options);

  /// The given tensors in the order of the graph's inputs, null where the default is used. Throws Error where a name or
  /// a type does not fit.
  [[nodiscard]] std::vector<const Tensor*> arrange(const NamedTensors& given) const;

  /// The plan for these inputs, from the cache or new.
  [[nodiscard]] std::shared_ptr<const Plan> plan_for(const std::vector<const Tensor*>& inputs) const;
  [[nodiscard]] std::shared_ptr<const Plan> plan_for(InputShapes shapes) const;

  /// A Scratch that goes back to where it came from.
  struct GiveBack {
    const Impl* session;
    void operator()(Scratch* scratch) const noexcept;
  };
  using BorrowedScratch = std::unique_ptr<Scratch, GiveBack>;
  [[nodiscard]] BorrowedScratch borrow_scratch(std::size_t arena_bytes) const;

  std::shared_ptr<const LoadedModel> model;
  const BoundGraph& graph;
  const Target& target;
  ThreadPool pool;
  MemoryLimits limits;

 private:
  [[nodiscard]] std::size_t input_number(const std::string& name) const;
  void check(const BoundValue& value, const Tensor* given) const;
  [[noreturn]] void refuse_name(const std::string& name) const;

  mutable std::mutex plans_mutex_;
  mutable std::vector<std::shared_ptr<const Plan>> plans_;  ///< the one used last stands last
  mutable std::mutex scratch_mutex_;
  mutable std::size_t scratch_count_ = 0;
  mutable std::vector<std::unique_ptr<Scratch>> free_scratch_;
};

struct Binding::Impl {
  std::shared_ptr<const Session::Impl> session;
  std::shared_ptr<const Plan> plan;
  std::vector<Tensor> inputs;  ///< kept alive
  NamedTensors outputs;
  AlignedBuffer arena;
  std::vector<const std::byte*> addresses;
};

}  // namespace binet
