#include "runtime/prepare.h"

#include <algorithm>

#include "base/aligned_buffer.h"
#include "tensor/shape.h"

namespace binet {
namespace {

/// Forms are made together when this much is queued: enough for all threads; then what was folded for them can go.
constexpr std::size_t kFormsAtOnce = std::size_t{32} << 20;
/// A larger form is made by all threads together.
constexpr std::size_t kFormOfItsOwn = std::size_t{4} << 20;
constexpr std::size_t kMostGrowth = 16;

/// First every node is lowered, which shows what constants are wanted, and in what form; forms that another session
/// made are taken over. Then only what is still missing is computed, in the order of the nodes.
class Preparer {
 public:
  Preparer(const std::shared_ptr<const LoadedModel>& model, const std::vector<ValueType>& types, const Target& target,
           const ThreadPool& pool, MemoryCount& memory)
      : model_(*model),
        graph_(model->to_run()),
        types_(types),
        target_(target),
        pool_(pool),
        memory_(memory),
        is_constant_(graph_.values.size(), 0),
        reads_left_(graph_.values.size(), 0),
        orders_of_(graph_.values.size()) {
    prepared_.constants.resize(graph_.values.size());
  }

  Prepared prepare(const std::shared_ptr<const LoadedModel>& model, const InputShapes& given) {
    for (ValueIndex i = 0; i < graph_.values.size(); ++i) is_constant_[i] = graph_.values[i].constant ? 1 : 0;
    // A constant whose name is a graph input is one only while no other value is given.
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (given[i]) is_constant_[graph_.inputs[i]] = 0;
    }
    const std::lock_guard lock(model_.constants.mutex());
    lower_all(needed_nodes());
    for (const ValueIndex output : graph_.outputs) want(output);
    for (ValueIndex i = 0; i < graph_.values.size(); ++i) {
      if (is_constant_[i] == 0 || !graph_.values[i].constant) continue;
      prepared_.constants[i] = {model, &*graph_.values[i].constant};
      queue_forms(i);
    }
    fold_all(nodes_to_fold());
    make_forms();
    return std::move(prepared_);
  }

 private:
  /// A form that is allocated, and still to be filled.
  struct Order {
    ValueIndex value;
    std::byte* form;
    std::size_t bytes;
    decltype(ConstantForm::make) make;
  };

  /// The nodes that some graph output depends on.
  [[nodiscard]] std::vector<bool> needed_nodes() const {
    std::vector<bool> value_needed(graph_.values.size(), false);
    for (const ValueIndex output : graph_.outputs) value_needed[output] = true;
    std::vector<bool> needed(graph_.nodes.size(), false);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      const BoundNode& node = graph_.nodes[i];
      needed[i] = value_needed[node.output];
      if (!needed[i]) continue;
      for (const ValueIndex input : node.inputs) {
        if (input != kLeftOut) value_needed[input] = true;
      }
    }
    return needed;
  }

  [[nodiscard]] std::size_t bytes_of(ValueIndex value) const {
    const ValueType& type = types_[value];
    return static_cast<std::size_t>(*byte_count(type.type, *element_count(*type.shape)));
  }

  [[nodiscard]] bool can_fold(const BoundNode& node) const {
    std::size_t bytes = 0;
    for (const ValueIndex input : node.inputs) {
      if (input == kLeftOut) continue;
      if (is_constant_[input] == 0) return false;
      bytes += bytes_of(input);
    }
    return bytes_of(node.output) / kMostGrowth <= bytes;
  }

  void want(ValueIndex value) {
    if (value != kLeftOut && is_constant_[value] != 0) ++reads_left_[value];
  }

  void lower_all(const std::vector<bool>& needed) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!needed[i]) continue;
      const BoundNode& node = graph_.nodes[i];
      if (can_fold(node)) {
        is_constant_[node.output] = 1;
        folded_nodes_.push_back(i);
      } else {
        add_step(i);
      }
    }
  }

  [[nodiscard]] Lowered lower(const BoundNode& node, std::span<const std::uint8_t> constant_inputs) {
    const NodeView view = node.view([this](ValueIndex v) -> const ValueType& { return types_[v]; }, storage_);
    return node.version->lower(view, types_[node.output], {target_, pool_.threads(), constant_inputs});
  }

  void add_step(std::size_t number) {
    const BoundNode& node = graph_.nodes[number];
    constant_inputs_.clear();
    for (const ValueIndex input : node.inputs) {
      constant_inputs_.push_back(input == kLeftOut ? std::uint8_t{0} : is_constant_[input]);
    }
    Lowered lowered = lower(node, constant_inputs_);
    PreparedStep& step = prepared_.steps.emplace_back();
    step.call = std::move(lowered.call);
    step.node = number;
    if (!lowered.forms.empty()) step.forms.resize(node.inputs.size());
    for (ConstantForm& form : lowered.forms) {
      const std::size_t input = form.input;
      step.forms[input] = find_or_order(node.inputs[input], std::move(form), node.label);
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (step.forms.empty() || step.forms[i] == nullptr) want(node.inputs[i]);
    }
  }

  /// The form; one that is ordered is not filled yet.
  std::shared_ptr<const std::byte> find_or_order(ValueIndex value, ConstantForm form, const std::string& where) {
    std::shared_ptr<const std::byte> known = model_.constants.find(value, form.key);
    if (known != nullptr) return known;
    memory_.add(where, "packed constants", form.bytes);
    const auto buffer = std::make_shared<AlignedBuffer>(form.bytes);
    orders_of_[value].push_back({value, buffer->data(), form.bytes, std::move(form.make)});
    want(value);
    std::shared_ptr<const std::byte> ordered(buffer, buffer->data());
    // Other nodes of this plan may use it too. Other sessions do not see it before it is filled: they wait for the
    // lock.
    model_.constants.keep(value, form.key, ordered);
    return ordered;
  }

  /// Of the nodes that could be folded, those whose value is wanted, each after those it depends on.
  std::vector<std::size_t> nodes_to_fold() {
    std::vector<std::size_t> wanted;
    for (std::size_t i = folded_nodes_.size(); i-- > 0;) {
      const BoundNode& node = graph_.nodes[folded_nodes_[i]];
      if (reads_left_[node.output] == 0) continue;
      wanted.push_back(folded_nodes_[i]);
      prepared_.constants[node.output] = model_.constants.find_folded(node.output);
      if (prepared_.constants[node.output] != nullptr) continue;
      for (const ValueIndex input : node.inputs) want(input);
    }
    std::reverse(wanted.begin(), wanted.end());
    return wanted;
  }

  void fold_all(const std::vector<std::size_t>& nodes) {
    for (const std::size_t number : nodes) {
      const BoundNode& node = graph_.nodes[number];
      memory_.add(node.label, "folded constants", bytes_of(node.output));
      std::shared_ptr<const Tensor>& value = prepared_.constants[node.output];
      if (value == nullptr) {
        value = std::make_shared<const Tensor>(compute(node));
        model_.constants.keep_folded(node.output, value);
        for (const ValueIndex input : node.inputs) {
          if (input != kLeftOut) has_been_read(input);
        }
      }
      queue_forms(node.output);
      if (bytes_queued_ >= kFormsAtOnce) make_forms();
    }
  }

  [[nodiscard]] Tensor compute(const BoundNode& node) {
    const Lowered lowered = lower(node, {});
    Tensor result = Tensor::uninitialized(types_[node.output].type, *types_[node.output].shape);
    const AlignedBuffer workspace(lowered.call->workspace_bytes());
    std::vector<const std::byte*> inputs;
    for (const ValueIndex input : node.inputs) {
      inputs.push_back(input == kLeftOut ? nullptr : prepared_.constants[input]->bytes().data());
    }
    lowered.call->run({inputs, result.mutable_bytes().data(), workspace.data()}, pool_);
    return result;
  }

  void queue_forms(ValueIndex value) {
    for (Order& order : orders_of_[value]) {
      bytes_queued_ += order.bytes;
      queue_.push_back(std::move(order));
    }
  }

  void make_forms() {
    static const ThreadPool alone(1);
    const auto make = [this](const Order& order, const ThreadPool& pool) {
      const std::span<const std::byte> constant = prepared_.constants[order.value]->bytes();
      order.make(constant.data(), order.form, pool);
      graph_.let_go(constant);
    };
    const auto small = std::stable_partition(queue_.begin(), queue_.end(),
                                             [](const Order& order) { return order.bytes >= kFormOfItsOwn; });
    for (auto order = queue_.begin(); order != small; ++order) make(*order, pool_);
    pool_.run(queue_.end() - small, [&](std::int64_t i) { make(small[i], alone); });
    for (const Order& order : queue_) has_been_read(order.value);
    queue_.clear();
    bytes_queued_ = 0;
  }

  /// What was folded only to be folded further, or to be brought into another form, is not kept.
  void has_been_read(ValueIndex value) {
    --reads_left_[value];
    if (graph_.values[value].constant) return graph_.let_go(graph_.values[value].constant->bytes());
    if (reads_left_[value] != 0) return;
    prepared_.constants[value] = nullptr;
    memory_.remove(bytes_of(value));
  }

  const LoadedModel& model_;
  const BoundGraph& graph_;
  const std::vector<ValueType>& types_;
  const Target& target_;
  const ThreadPool& pool_;
  MemoryCount& memory_;
  std::vector<std::uint8_t> is_constant_;  ///< by value: known now, or to be folded
  std::vector<std::size_t> reads_left_;    ///< by value: who still reads the constant itself; at the end, at run time
  std::vector<std::vector<Order>> orders_of_;
  std::vector<std::size_t> folded_nodes_;
  std::vector<Order> queue_;
  std::size_t bytes_queued_ = 0;
  Prepared prepared_;
  std::vector<const ValueType*> storage_;
  std::vector<std::uint8_t> constant_inputs_;
};

}  // namespace

Prepared prepare(const std::shared_ptr<const LoadedModel>& model, const std::vector<ValueType>& types,
                 const InputShapes& given, const Target& target, const ThreadPool& pool, MemoryCount& memory) {
  return Preparer(model, types, target, pool, memory).prepare(model, given);
}

}  // namespace binet
