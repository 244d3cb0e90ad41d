// Room: runtime. The session: inputs are checked against the model, a plan is found or made, and run.
#include "binet/session.h"

#include <algorithm>
#include <mutex>

#include "base/fail.h"
#include "base/text.h"
#include "runtime/model_access.h"
#include "runtime/plan.h"

namespace binet {
namespace {

/// Plans kept for the shapes that were run last.
constexpr std::size_t kMostPlans = 8;

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

struct Session::Impl {
  Impl(std::shared_ptr<const BoundGraph> model, SessionOptions options)
      : graph(std::move(model)), target(default_target()), pool(options.threads) {
    if (const auto shapes = declared_input_shapes(*graph)) static_cast<void>(plan_for(*shapes));
  }

  /// The given tensors in the order of the graph's inputs, null where the default is used.
  [[nodiscard]] std::vector<const Tensor*> arrange(const NamedTensors& given) const {
    std::vector<const Tensor*> inputs(graph->inputs.size(), nullptr);
    for (const auto& [name, tensor] : given) {
      const auto place = std::find_if(graph->inputs.begin(), graph->inputs.end(),
                                      [&, &wanted = name](ValueIndex i) { return graph->values[i].name == wanted; });
      if (place == graph->inputs.end()) refuse_name(name);
      const Tensor*& input = inputs[static_cast<std::size_t>(place - graph->inputs.begin())];
      if (input != nullptr) fail(ErrorCode::invalid_argument, "{}: input {} is given twice", graph->file, quote(name));
      input = &tensor;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) check(graph->values[graph->inputs[i]], inputs[i]);
    return inputs;
  }

  void check(const BoundValue& value, const Tensor* given) const {
    if (given == nullptr) {
      if (value.constant) return;
      fail(ErrorCode::invalid_argument, "{}: input {} is missing", graph->file, quote(value.name));
    }
    if (given->type() != value.type.type) {
      fail(ErrorCode::invalid_argument, "{}: input {} has type {}; declared is {}", graph->file, quote(value.name),
           to_string(given->type()), to_string(value.type.type));
    }
  }

  [[noreturn]] void refuse_name(const std::string& name) const {
    std::vector<std::string_view> names;
    std::string list;
    for (const ValueIndex i : graph->inputs) {
      names.push_back(graph->values[i].name);
      list += (list.empty() ? "" : " ") + quote(graph->values[i].name);
    }
    const auto near = nearest_name(name, names);
    fail(ErrorCode::invalid_argument, "{}: there is no input {}{}; the inputs are {}", graph->file, quote(name),
         near ? fmt::format(" (did you mean {}?)", quote(*near)) : "", list.empty() ? "none" : list);
  }

  /// The plan for these shapes, from the cache or new. The most recently used plan stands last.
  [[nodiscard]] std::shared_ptr<const Plan> plan_for(const InputShapes& shapes) const {
    const std::lock_guard lock(mutex);
    const auto found =
        std::find_if(plans.begin(), plans.end(), [&](const auto& plan) { return plan->shapes() == shapes; });
    if (found != plans.end()) {
      std::rotate(found, found + 1, plans.end());
      return plans.back();
    }
    const Plan* earlier = plans.empty() ? nullptr : plans.back().get();
    auto plan = std::make_shared<const Plan>(graph, shapes, target, pool.threads(), earlier);
    if (plans.size() == kMostPlans) plans.erase(plans.begin());
    plans.push_back(plan);
    return plan;
  }

  std::shared_ptr<const BoundGraph> graph;
  const Target& target;
  ThreadPool pool;
  mutable std::mutex mutex;
  mutable std::vector<std::shared_ptr<const Plan>> plans;
};

Session::Session(const Model& model, SessionOptions options)
    : impl_(std::make_unique<const Impl>(Model::Access::graph(model), options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

NamedTensors Session::run(const NamedTensors& inputs) const {
  const std::vector<const Tensor*> arranged = impl_->arrange(inputs);
  InputShapes shapes;
  for (const Tensor* tensor : arranged) {
    shapes.push_back(tensor == nullptr ? std::nullopt : std::optional<Shape>(tensor->shape()));
  }
  return impl_->plan_for(shapes)->run(arranged, impl_->pool);
}

}  // namespace binet
