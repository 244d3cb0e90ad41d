// Room: runtime. From bound nodes with known shapes to kernel calls; what depends on constants alone is done here,
// once.
//
//  - A node whose inputs are all constants is computed now, and its output is a constant too. Not where that would blow
//    a constant up by more than the widest element type does (16 times, i4 to f64): a broadcast that large is cheaper
//    to repeat than to keep.
//  - Constants that a kernel wants in another form are brought into it, on all threads, and shared by the sessions of
//    the model. Of a mapped file, the pages that were read for it are let go at once.
#pragma once

#include <memory>
#include <vector>

#include "base/target.h"
#include "runtime/loaded_model.h"
#include "runtime/memory_count.h"
#include "runtime/shape_binding.h"

namespace binet {

struct PreparedStep {
  std::unique_ptr<KernelCall> call;
  std::size_t node = 0;
  /// Constants in another form: one for each input of the node, null where the value itself is used.
  std::vector<std::shared_ptr<const std::byte>> forms;
};

struct Prepared {
  std::vector<PreparedStep> steps;  ///< in the order of the nodes
  /// By value: the constant, if it is one and somebody reads it at run time.
  std::vector<std::shared_ptr<const Tensor>> constants;
};

/// `types` are the values' types for the input shapes `given`; an input that is given is no constant.
[[nodiscard]] Prepared prepare(const std::shared_ptr<const LoadedModel>& model, const std::vector<ValueType>& types,
                               const InputShapes& given, const Target& target, const ThreadPool& pool,
                               MemoryCount& memory);

}  // namespace binet
