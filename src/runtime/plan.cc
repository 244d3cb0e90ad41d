#include "runtime/plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "runtime/place_values.h"
#include "tensor/shape.h"

namespace binet {
namespace {

/// From here on a kernel may think of threads. Fewer bytes and operations never pay for waking one.
constexpr double kBytesForThreads = 64.0 * 1024;
constexpr double kOperationsForThreads = 512.0 * 1024;

std::vector<PlacedStep> steps_to_place(const BoundGraph& graph, const std::vector<PreparedStep>& steps) {
  std::vector<PlacedStep> placed;
  for (const PreparedStep& step : steps) {
    const BoundNode& node = graph.nodes[step.node];
    PlacedStep& p = placed.emplace_back();
    p.inputs = node.inputs;
    p.output = node.output;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      p.may_overwrite.push_back(step.call->may_overwrite(i));
      if (!step.forms.empty() && step.forms[i] != nullptr) p.inputs[i] = kLeftOut;
    }
  }
  return placed;
}

}  // namespace

Plan::Plan(std::shared_ptr<const LoadedModel> model, InputShapes shapes, const Target& target, const ThreadPool& pool,
           const MemoryLimits& limits)
    : model_(std::move(model)),
      graph_(model_->to_run()),
      shapes_(std::move(shapes)),
      types_(bind_shapes(graph_, shapes_)) {
  MemoryCount memory(limits);
  check_tensors(memory);
  place(prepare(model_, types_, shapes_, target, pool, memory), memory);
}

std::size_t Plan::bytes_of(ValueIndex value) const {
  const ValueType& type = types_[value];
  if (!type.shape) return 0;  // nobody makes it any more: see rewrite.h
  return static_cast<std::size_t>(*byte_count(type.type, *element_count(*type.shape)));
}

ElementType Plan::output_type(std::size_t output) const { return types_[graph_.outputs[output]].type; }
const Shape& Plan::output_shape(std::size_t output) const { return *types_[graph_.outputs[output]].shape; }

void Plan::check_tensors(const MemoryCount& memory) const {
  for (const ValueIndex input : graph_.inputs) {
    if (!memory.is_too_large(bytes_of(input))) continue;
    memory.refuse_tensor(fmt::format("{}: input {}", graph_.file, quote(graph_.values[input].name)), bytes_of(input));
  }
  for (const BoundNode& node : graph_.nodes) {
    if (memory.is_too_large(bytes_of(node.output))) {
      memory.refuse_tensor(fmt::format("{}: the result", node.label), bytes_of(node.output));
    }
  }
}

void Plan::place(Prepared prepared, MemoryCount& memory) {
  std::size_t workspace = 0;
  for (const PreparedStep& step : prepared.steps) workspace = std::max(workspace, step.call->workspace_bytes());
  std::vector<std::size_t> bytes(types_.size());
  for (ValueIndex i = 0; i < bytes.size(); ++i) bytes[i] = bytes_of(i);

  const Placement placement = place_values(steps_to_place(graph_, prepared.steps), bytes, graph_.outputs);
  workspace_offset_ = placement.bytes;
  memory.add(graph_.file, "the values in between", placement.bytes);
  memory.add(graph_.file, "the workspace of the kernels", workspace);
  arena_bytes_ = placement.bytes + workspace;
  for (const ValueIndex output : graph_.outputs) memory.add(graph_.file, "the outputs", bytes[output]);

  constants_ = std::move(prepared.constants);
  const std::vector<Slot> slot_of = slots_of_values(placement.offsets);
  for (PreparedStep& step : prepared.steps) add_step(std::move(step), slot_of);
  add_copies(slot_of);
}

/// By value, where it is at run time.
std::vector<Plan::Slot> Plan::slots_of_values(const std::vector<std::size_t>& arena_offsets) const {
  std::vector<Slot> slots(types_.size());
  for (ValueIndex i = 0; i < slots.size(); ++i) {
    if (constants_[i] != nullptr) slots[i] = {Slot::Kind::fixed, 0, constants_[i]->bytes().data()};
    if (arena_offsets[i] != Placement::kElsewhere) slots[i] = {Slot::Kind::arena, arena_offsets[i], nullptr};
  }
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    if (shapes_[i]) slots[graph_.inputs[i]] = {Slot::Kind::input, i, nullptr};
  }
  std::vector<bool> is_made(types_.size(), false);
  for (const BoundNode& node : graph_.nodes) is_made[node.output] = constants_[node.output] == nullptr;
  for (std::size_t i = graph_.outputs.size(); i-- > 0;) {
    const ValueIndex value = graph_.outputs[i];
    if (is_made[value]) slots[value] = {Slot::Kind::output, i, nullptr};
  }
  return slots;
}

void Plan::add_step(PreparedStep prepared, const std::vector<Slot>& slot_of) {
  const BoundNode& node = graph_.nodes[prepared.node];
  const std::size_t first = slots_.size();
  if (!steps_.empty()) {
    const ValueIndex before = graph_.nodes[steps_.back().node].output;
    steps_.back().output_is_read_next = std::find(node.inputs.begin(), node.inputs.end(), before) != node.inputs.end();
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!prepared.forms.empty() && prepared.forms[i] != nullptr) {
      slots_.push_back({Slot::Kind::fixed, 0, prepared.forms[i].get()});
      forms_.push_back(std::move(prepared.forms[i]));
    } else {
      slots_.push_back(node.inputs[i] == kLeftOut ? Slot{} : slot_of[node.inputs[i]]);
    }
  }
  slots_.push_back(slot_of[node.output]);
  slots_.push_back({Slot::Kind::arena, workspace_offset_, nullptr});
  uses_threads_ =
      uses_threads_ || bytes_touched(node) >= kBytesForThreads || prepared.call->operations() >= kOperationsForThreads;
  steps_.push_back({std::move(prepared.call), first, node.inputs.size(), prepared.node});
}

void Plan::add_copies(const std::vector<Slot>& slot_of) {
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const Slot& slot = slot_of[graph_.outputs[i]];
    const std::size_t bytes = bytes_of(graph_.outputs[i]);
    if (bytes == 0 || (slot.kind == Slot::Kind::output && slot.number == i)) continue;
    copies_.push_back({slots_.size(), bytes});
    slots_.push_back(slot);
    slots_.push_back({Slot::Kind::output, i, nullptr});
  }
}

void Plan::resolve(const Places& places, std::vector<const std::byte*>& addresses) const {
  addresses.resize(slots_.size());
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    switch (slot.kind) {
      case Slot::Kind::fixed:
        addresses[i] = slot.address;
        break;
      case Slot::Kind::arena:
        addresses[i] = places.arena + slot.number;
        break;
      case Slot::Kind::input:
        addresses[i] = places.inputs[slot.number];
        break;
      case Slot::Kind::output:
        addresses[i] = places.outputs[slot.number];
        break;
    }
  }
}

void Plan::run_step(const Step& step, const std::byte* const* addresses, const ThreadPool& pool) const {
  const std::byte* const* inputs = addresses + step.first;
  step.call->run({std::span(inputs, step.inputs), const_cast<std::byte*>(inputs[step.inputs]),
                  const_cast<std::byte*>(inputs[step.inputs + 1]), step.output_is_read_next},
                 pool);
}

void Plan::copy_outputs(std::span<const std::byte* const> addresses) const {
  for (const Copy& copy : copies_) {
    std::memcpy(const_cast<std::byte*>(addresses[copy.from + 1]), addresses[copy.from], copy.bytes);
  }
}

void Plan::run(std::span<const std::byte* const> addresses, const ThreadPool& pool) const {
  for (const Step& step : steps_) run_step(step, addresses.data(), pool);
  copy_outputs(addresses);
}

void Plan::run(std::span<const std::byte* const> addresses, const ThreadPool& pool,
               std::span<std::int64_t> nanoseconds) const {
  auto before = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    run_step(steps_[i], addresses.data(), pool);
    const auto now = std::chrono::steady_clock::now();
    nanoseconds[i] = std::chrono::nanoseconds(now - before).count();
    before = now;
  }
  copy_outputs(addresses);
}

double Plan::bytes_touched(const BoundNode& node) const {
  std::size_t bytes = bytes_of(node.output);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool is_first = std::find(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                                    node.inputs[i]) == node.inputs.begin() + static_cast<std::ptrdiff_t>(i);
    if (node.inputs[i] != kLeftOut && is_first) bytes += bytes_of(node.inputs[i]);
  }
  return static_cast<double>(bytes);
}

std::vector<StepDescription> Plan::describe() const {
  const auto text_of = [this](ValueIndex value) {
    if (value == kLeftOut) return std::string();
    return fmt::format("{} {}", to_string(types_[value].type), to_string(types_[value].shape));
  };
  std::vector<StepDescription> descriptions;
  for (const Step& step : steps_) {
    const BoundNode& node = graph_.nodes[step.node];
    StepDescription& d = descriptions.emplace_back();
    d.name = node.name;
    d.operation = versioned_name(*node.version);
    for (const ValueIndex input : node.inputs) d.inputs.push_back(text_of(input));
    d.output = text_of(node.output);
    d.type = types_[node.output].type;
    d.kernel = step.call->describe();
    d.operations = step.call->operations();
    d.bytes = bytes_touched(node);
  }
  return descriptions;
}

}  // namespace binet
