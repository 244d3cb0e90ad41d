#include "operators/elementwise_call.h"

#include <fmt/format.h>

namespace binet {
namespace {

class ElementwiseCall final : public KernelCall {
 public:
  ElementwiseCall(kernels::elementwise::Operation operation, ElementType type, BroadcastPlan plan, const Target& target)
      : loops_(plan.loops),
        plan_(kernels::elementwise::make_plan(operation, type, std::move(plan), target)),
        type_(type),
        target_(target.name) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    using kernels::elementwise::Result;
    kernels::elementwise::run(plan_, operands.inputs[0], operands.inputs[1], operands.output, pool,
                              operands.output_is_read_next ? Result::read_next : Result::used_later);
  }

  /// As the kernels promise: an operand that is read element by element in the order of the output.
  [[nodiscard]] bool may_overwrite(std::size_t input) const override {
    if (loops_.size() > 1) return false;
    return loops_.empty() || (input == 0 ? loops_[0].a_step : loops_[0].b_step) == 1;
  }

  [[nodiscard]] double operations() const override { return static_cast<double>(plan_.loops.elements); }

  [[nodiscard]] std::string describe() const override {
    std::string text = fmt::format("elementwise {} {}", to_string(type_), target_);
    for (const BroadcastLoop& loop : loops_) text += fmt::format(" ({},{},{})", loop.extent, loop.a_step, loop.b_step);
    return text;
  }

 private:
  std::vector<BroadcastLoop> loops_;
  kernels::elementwise::Plan plan_;
  ElementType type_;
  std::string_view target_;
};

}  // namespace

Lowered lower_elementwise(kernels::elementwise::Operation operation, ElementType type, const AlignedShapes& shapes,
                          const LoweringContext& context) {
  return {std::make_unique<ElementwiseCall>(operation, type, plan_broadcast(shapes.a, shapes.b), context.target), {}};
}

}  // namespace binet
