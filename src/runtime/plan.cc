#include "runtime/plan.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/fail.h"
#include "runtime/arena_layout.h"
#include "tensor/shape.h"

namespace binet {
namespace {

std::size_t bytes_of(const ValueType& type) {
  return static_cast<std::size_t>(*byte_count(type.type, *element_count(*type.shape)));
}

}  // namespace

Plan::Plan(std::shared_ptr<const BoundGraph> graph, InputShapes shapes, const Target& target, int threads,
           const Plan* earlier)
    : graph_(std::move(graph)), shapes_(std::move(shapes)), types_(bind_shapes(*graph_, shapes_)) {
  lower(needed_nodes(), target, threads, earlier);
  place_intermediates();
}

/// The nodes that some graph output depends on.
std::vector<bool> Plan::needed_nodes() const {
  std::vector<bool> value_needed(graph_->values.size(), false);
  for (const ValueIndex output : graph_->outputs) value_needed[output] = true;
  std::vector<bool> node_needed(graph_->nodes.size(), false);
  for (std::size_t i = graph_->nodes.size(); i-- > 0;) {
    const BoundNode& node = graph_->nodes[i];
    node_needed[i] = value_needed[node.output];
    if (!node_needed[i]) continue;
    for (const ValueIndex input : node.inputs) {
      if (input != kLeftOut) value_needed[input] = true;
    }
  }
  return node_needed;
}

void Plan::lower(const std::vector<bool>& needed, const Target& target, int threads, const Plan* earlier) {
  // A constant whose name is a graph input is one only while no other value is given.
  std::vector<const Tensor*> constants(graph_->values.size(), nullptr);
  for (ValueIndex i = 0; i < constants.size(); ++i) {
    if (graph_->values[i].constant) constants[i] = &*graph_->values[i].constant;
  }
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i]) constants[graph_->inputs[i]] = nullptr;
  }

  std::vector<const ValueType*> storage;
  for (std::size_t i = 0; i < graph_->nodes.size(); ++i) {
    if (!needed[i]) continue;
    const BoundNode& node = graph_->nodes[i];
    const NodeView view = node.view([this](ValueIndex v) -> const ValueType& { return types_[v]; }, storage);
    std::vector<const Tensor*> node_constants;
    for (const ValueIndex input : node.inputs) {
      node_constants.push_back(input == kLeftOut ? nullptr : constants[input]);
    }
    const Step* before = earlier == nullptr ? nullptr : earlier->step_of_node(i);
    LoweringContext context{target, threads, node_constants, {}};
    if (before != nullptr) context.prepared_earlier = before->prepared;
    Lowered lowered = node.version->lower(view, types_[node.output], context);
    steps_.push_back({std::move(lowered.call), node.inputs, std::move(lowered.prepared_inputs), node.output, i});
  }
}

const Plan::Step* Plan::step_of_node(std::size_t node) const noexcept {
  const auto step = std::lower_bound(steps_.begin(), steps_.end(), node,
                                     [](const Step& s, std::size_t number) { return s.node < number; });
  return step != steps_.end() && step->node == node ? &*step : nullptr;
}

void Plan::place_intermediates() {
  constexpr std::size_t kNever = static_cast<std::size_t>(-1);
  std::vector<std::size_t> made_at(graph_->values.size(), kNever);
  std::vector<std::size_t> last_use(graph_->values.size(), 0);
  std::size_t workspace = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    made_at[steps_[i].output] = last_use[steps_[i].output] = i;
    workspace = std::max(workspace, steps_[i].call->workspace_bytes());
    for (const ValueIndex input : steps_[i].inputs) {
      if (input != kLeftOut) last_use[input] = i;
    }
  }
  std::vector<bool> in_output(graph_->values.size(), false);
  for (const ValueIndex output : graph_->outputs) {
    made_in_place_.push_back(made_at[output] != kNever && !in_output[output]);
    in_output[output] = true;
  }

  std::vector<Lifetime> lifetimes;
  std::optional<std::size_t> total = round_up_to_cache_line(workspace);
  for (ValueIndex i = 0; i < graph_->values.size(); ++i) {
    if (made_at[i] == kNever || in_output[i]) continue;
    lifetimes.push_back({made_at[i], last_use[i], bytes_of(types_[i])});
    arena_places_.emplace_back(i, 0);
    if (total) total = checked_add(*total, lifetimes.back().bytes);
  }
  if (!total || *total > SIZE_MAX / 4) {
    fail(ErrorCode::out_of_memory, "{}: the values in between do not fit into memory", graph_->file);
  }
  const ArenaLayout layout = lay_out(lifetimes);
  for (std::size_t i = 0; i < arena_places_.size(); ++i) arena_places_[i].second = layout.offsets[i];
  workspace_offset_ = layout.bytes;
  arena_bytes_ = layout.bytes + workspace;
}

std::unique_ptr<Plan::Context> Plan::take_context() const {
  {
    const std::lock_guard lock(mutex_);
    if (!free_contexts_.empty()) {
      std::unique_ptr<Context> context = std::move(free_contexts_.back());
      free_contexts_.pop_back();
      return context;
    }
  }
  auto context = std::make_unique<Context>();
  context->arena = AlignedBuffer(arena_bytes_);
  context->addresses.resize(graph_->values.size(), nullptr);
  for (ValueIndex i = 0; i < graph_->values.size(); ++i) {
    if (graph_->values[i].constant) context->addresses[i] = graph_->values[i].constant->bytes().data();
  }
  for (const auto& [value, offset] : arena_places_) context->addresses[value] = context->arena.data() + offset;
  return context;
}

void Plan::give_back(std::unique_ptr<Context> context) const {
  const std::lock_guard lock(mutex_);
  free_contexts_.push_back(std::move(context));
}

NamedTensors Plan::run(std::span<const Tensor* const> inputs, const ThreadPool& pool) const {
  std::vector<Tensor> outputs;
  for (const ValueIndex output : graph_->outputs) {
    outputs.push_back(Tensor::uninitialized(types_[output].type, *types_[output].shape));
  }
  std::unique_ptr<Context> context = take_context();
  std::vector<const std::byte*>& addresses = context->addresses;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] != nullptr) addresses[graph_->inputs[i]] = inputs[i]->bytes().data();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (made_in_place_[i]) addresses[graph_->outputs[i]] = outputs[i].mutable_bytes().data();
  }

  for (const Step& step : steps_) {
    context->operands.clear();
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      const bool is_prepared = !step.prepared.empty() && step.prepared[i] != nullptr;
      const std::byte* address = step.inputs[i] == kLeftOut ? nullptr : addresses[step.inputs[i]];
      context->operands.push_back(is_prepared ? step.prepared[i].get() : address);
    }
    step.call->run(
        {context->operands, const_cast<std::byte*>(addresses[step.output]), context->arena.data() + workspace_offset_},
        pool);
  }

  NamedTensors named;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::span<std::byte> bytes = outputs[i].mutable_bytes();
    if (!made_in_place_[i] && !bytes.empty()) std::memcpy(bytes.data(), addresses[graph_->outputs[i]], bytes.size());
    named.add(graph_->values[graph_->outputs[i]].name, std::move(outputs[i]));
  }
  give_back(std::move(context));
  return named;
}

}  // namespace binet
