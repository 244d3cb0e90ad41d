// Room: runtime. Bindings: everything that can be decided before a run, for tensors that stay where they are.
#include <algorithm>
#include <functional>

#include "base/fail.h"
#include "base/out_of_memory.h"
#include "base/text.h"
#include "runtime/session_inside.h"

namespace binet {
namespace {

bool overlaps(const Tensor& a, const Tensor& b) {
  // std::less orders pointers into different objects too.
  const std::less<const std::byte*> before;
  const auto of_a = a.bytes();
  const auto of_b = b.bytes();
  return !of_a.empty() && !of_b.empty() && before(of_a.data(), of_b.data() + of_b.size()) &&
         before(of_b.data(), of_a.data() + of_a.size());
}

/// The output tensor to write to: the one that is given, or a new one.
Tensor output_tensor(const BoundGraph& graph, const Plan& plan, std::size_t number, const NamedTensors& given) {
  const std::string& name = graph.values[graph.outputs[number]].name;
  const auto found = std::find_if(given.begin(), given.end(), [&](const auto& entry) { return entry.first == name; });
  const ElementType type = plan.output_type(number);
  const Shape& shape = plan.output_shape(number);
  if (found == given.end()) return Tensor::uninitialized(type, shape);
  const Tensor& tensor = found->second;
  if (tensor.type() == type && tensor.shape() == shape) return tensor;
  fail(ErrorCode::invalid_argument, "{}: output {} is given as {} {}; it must be {} {}", graph.file, quote(name),
       to_string(tensor.type()), to_string(tensor.shape()), to_string(type), to_string(shape));
}

void check_names(const BoundGraph& graph, const NamedTensors& outputs) {
  std::vector<std::string_view> seen;
  for (const auto& [name, tensor] : outputs) {
    const auto made = std::count_if(graph.outputs.begin(), graph.outputs.end(),
                                    [&, &wanted = name](ValueIndex i) { return graph.values[i].name == wanted; });
    if (made == 0) {
      fail(ErrorCode::invalid_argument, "{}: there is no output {}", graph.file, quote(name));
    }
    if (made > 1) {
      fail(ErrorCode::invalid_argument, "{}: output {} stands in the graph {} times, and cannot be given", graph.file,
           quote(name), made);
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
      fail(ErrorCode::invalid_argument, "{}: output {} is given twice", graph.file, quote(name));
    }
    seen.push_back(name);
  }
}

void check_apart(const BoundGraph& graph, const NamedTensors& inputs, const NamedTensors& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    for (const auto& [name, tensor] : inputs) {
      if (!overlaps(tensor, output->second)) continue;
      fail(ErrorCode::invalid_argument, "{}: output {} overlaps input {}", graph.file, quote(output->first),
           quote(name));
    }
    for (auto other = outputs.begin(); other != output; ++other) {
      if (!overlaps(other->second, output->second)) continue;
      fail(ErrorCode::invalid_argument, "{}: output {} overlaps output {}", graph.file, quote(output->first),
           quote(other->first));
    }
  }
}

}  // namespace

Binding::Binding(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Binding::Binding(Binding&&) noexcept = default;
Binding& Binding::operator=(Binding&&) noexcept = default;
Binding::~Binding() = default;

Binding Session::bind(const NamedTensors& inputs, const NamedTensors& outputs) const {
  return guard_memory([&] {
    const BoundGraph& graph = impl_->graph;
    const std::vector<const Tensor*> arranged = impl_->arrange(inputs);
    auto binding = std::make_unique<Binding::Impl>();
    binding->session = impl_;
    binding->plan = impl_->plan_for(arranged);
    check_names(graph, outputs);
    check_apart(graph, inputs, outputs);

    std::vector<const std::byte*> input_places;
    std::vector<std::byte*> output_places;
    for (const Tensor* tensor : arranged) {
      input_places.push_back(tensor == nullptr ? nullptr : tensor->bytes().data());
      if (tensor != nullptr) binding->inputs.push_back(*tensor);
    }
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
      Tensor output = output_tensor(graph, *binding->plan, i, outputs);
      output_places.push_back(output.mutable_bytes().data());
      binding->outputs.add(graph.values[graph.outputs[i]].name, std::move(output));
    }
    binding->arena = AlignedBuffer(binding->plan->arena_bytes());
    binding->plan->resolve({input_places, output_places, binding->arena.data()}, binding->addresses);
    if (binding->plan->uses_threads()) impl_->pool.start();
    return Binding(std::move(binding));
  });
}

void Binding::run() { impl_->plan->run(impl_->addresses, impl_->session->pool); }

void Binding::run(std::span<std::int64_t> nanoseconds) {
  if (nanoseconds.size() != impl_->plan->step_count()) {
    fail(ErrorCode::invalid_argument, "there is room for {} times; there are {} steps", nanoseconds.size(),
         impl_->plan->step_count());
  }
  impl_->plan->run(impl_->addresses, impl_->session->pool, nanoseconds);
}

const NamedTensors& Binding::outputs() const noexcept { return impl_->outputs; }

std::vector<StepDescription> Binding::steps() const {
  return guard_memory([&] { return impl_->plan->describe(); });
}

}  // namespace binet
