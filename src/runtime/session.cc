// Room: runtime. The session: inputs are checked against the model, a plan is found or made, and run.
#include "binet/session.h"

#include <algorithm>

#include "base/fail.h"
#include "base/out_of_memory.h"
#include "base/text.h"
#include "runtime/session_inside.h"

namespace binet {
namespace {

/// Plans kept for the shapes that were run last.
constexpr std::size_t kMostPlans = 8;

bool serves(const Plan& plan, const std::vector<const Tensor*>& inputs) {
  return std::equal(inputs.begin(), inputs.end(), plan.shapes().begin(), plan.shapes().end(),
                    [](const Tensor* tensor, const std::optional<Shape>& shape) {
                      return (tensor != nullptr) == shape.has_value() &&
                             (tensor == nullptr || tensor->shape() == *shape);
                    });
}

InputShapes shapes_of(const std::vector<const Tensor*>& inputs) {
  InputShapes shapes;
  for (const Tensor* tensor : inputs) {
    shapes.push_back(tensor == nullptr ? std::nullopt : std::optional<Shape>(tensor->shape()));
  }
  return shapes;
}

}  // namespace

const Tensor& NamedTensors::operator[](std::size_t place) const {
  if (place >= entries_.size()) {
    fail(ErrorCode::invalid_argument, "there is no tensor {}; there are {}", place, entries_.size());
  }
  return entries_[place].second;
}

const Tensor& NamedTensors::operator[](std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return entry.second;
  }
  fail(ErrorCode::invalid_argument, "there is no tensor {}", quote(name));
}

Session::Impl::Impl(std::shared_ptr<const LoadedModel> loaded, const SessionOptions& options)
    : model(std::move(loaded)),
      graph(model->to_run()),
      target(default_target()),
      pool(options.executor != nullptr ? ThreadPool(options.executor) : ThreadPool(options.threads)),
      limits{options.max_tensor_bytes, options.max_memory_bytes} {
  plans_.reserve(kMostPlans);
  if (auto shapes = declared_input_shapes(graph)) static_cast<void>(plan_for(*std::move(shapes)));
}

std::vector<const Tensor*> Session::Impl::arrange(const NamedTensors& given) const {
  std::vector<const Tensor*> inputs(graph.inputs.size(), nullptr);
  for (const auto& [name, tensor] : given) {
    const Tensor*& input = inputs[input_number(name)];
    if (input != nullptr) fail(ErrorCode::invalid_argument, "{}: input {} is given twice", graph.file, quote(name));
    input = &tensor;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) check(graph.values[graph.inputs[i]], inputs[i]);
  return inputs;
}

std::size_t Session::Impl::input_number(const std::string& name) const {
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.values[graph.inputs[i]].name == name) return i;
  }
  refuse_name(name);
}

void Session::Impl::check(const BoundValue& value, const Tensor* given) const {
  if (given == nullptr) {
    if (value.constant) return;
    fail(ErrorCode::invalid_argument, "{}: input {} is missing", graph.file, quote(value.name));
  }
  if (given->type() != value.type.type) {
    fail(ErrorCode::invalid_argument, "{}: input {} has type {}; declared is {}", graph.file, quote(value.name),
         to_string(given->type()), to_string(value.type.type));
  }
}

void Session::Impl::refuse_name(const std::string& name) const {
  std::vector<std::string_view> names;
  std::string list;
  for (const ValueIndex i : graph.inputs) {
    names.push_back(graph.values[i].name);
    list += (list.empty() ? "" : " ") + quote(graph.values[i].name);
  }
  const auto near = nearest_name(name, names);
  fail(ErrorCode::invalid_argument, "{}: there is no input {}{}; the inputs are {}", graph.file, quote(name),
       near ? fmt::format(" (did you mean {}?)", quote(*near)) : "", list.empty() ? "none" : list);
}

std::shared_ptr<const Plan> Session::Impl::plan_for(const std::vector<const Tensor*>& inputs) const {
  {
    const std::lock_guard lock(plans_mutex_);
    const auto found =
        std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return serves(*plan, inputs); });
    if (found != plans_.end()) {
      std::rotate(found, found + 1, plans_.end());
      return plans_.back();
    }
  }
  return plan_for(shapes_of(inputs));
}

/// Makes a plan. Runs for other shapes go on meanwhile; two threads may make the same one, and use either.
std::shared_ptr<const Plan> Session::Impl::plan_for(InputShapes shapes) const {
  auto plan = std::make_shared<const Plan>(model, std::move(shapes), target, pool, limits);
  const std::lock_guard lock(plans_mutex_);
  if (plans_.size() == kMostPlans) plans_.erase(plans_.begin());
  plans_.push_back(plan);
  return plan;
}

Session::Impl::BorrowedScratch Session::Impl::borrow_scratch(std::size_t arena_bytes) const {
  BorrowedScratch scratch(nullptr, {this});
  {
    const std::lock_guard lock(scratch_mutex_);
    if (free_scratch_.empty()) {
      free_scratch_.reserve(scratch_count_ + 1);  // giving back must not allocate
      scratch.reset(new Scratch);
      ++scratch_count_;
    } else {
      scratch.reset(free_scratch_.back().release());
      free_scratch_.pop_back();
    }
  }
  if (scratch->arena.size() < arena_bytes) {
    scratch->arena = {};  // first let go, then ask: the peak is smaller
    scratch->arena = AlignedBuffer(arena_bytes);
  }
  return scratch;
}

void Session::Impl::GiveBack::operator()(Scratch* scratch) const noexcept {
  const std::lock_guard lock(session->scratch_mutex_);
  session->free_scratch_.emplace_back(scratch);
}

Session::Session(const Model& model, const SessionOptions& options)
    : impl_(guard_memory([&] { return std::make_shared<const Impl>(Model::Access::inside(model), options); })) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

int Session::threads() const noexcept { return impl_->pool.threads(); }

NamedTensors Session::run(const NamedTensors& inputs) const {
  return guard_memory([&] {
    const std::vector<const Tensor*> arranged = impl_->arrange(inputs);
    const std::shared_ptr<const Plan> plan = impl_->plan_for(arranged);
    const BoundGraph& graph = impl_->graph;
    NamedTensors outputs;
    std::vector<const std::byte*> input_places;
    std::vector<std::byte*> output_places;
    for (const Tensor* tensor : arranged) {
      input_places.push_back(tensor == nullptr ? nullptr : tensor->bytes().data());
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      Tensor output = Tensor::uninitialized(plan->output_type(i), plan->output_shape(i));
      output_places.push_back(output.mutable_bytes().data());
      outputs.add(graph.values[graph.outputs[i]].name, std::move(output));
    }
    const Impl::BorrowedScratch scratch = impl_->borrow_scratch(plan->arena_bytes());
    plan->resolve({input_places, output_places, scratch->arena.data()}, scratch->addresses);
    plan->run(scratch->addresses, impl_->pool);
    return outputs;
  });
}

}  // namespace binet
