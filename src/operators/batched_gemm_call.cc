#include "operators/batched_gemm_call.h"

#include <fmt/format.h>

#include "tensor/shape.h"

namespace binet {
namespace {

class BatchedGemmCall final : public KernelCall {
 public:
  BatchedGemmCall(const kernels::gemm::Plan& plan, BroadcastPlan stacks, std::string_view target)
      : plan_(plan), stacks_(std::move(stacks)), target_(target) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    const kernels::gemm::Problem& p = plan_.problem;
    const auto size = static_cast<std::int64_t>(byte_size(p.type));
    for (std::int64_t i = 0; i < stacks_.elements; ++i) {
      std::int64_t a = 0;
      std::int64_t b = 0;
      std::int64_t turns = i;
      for (auto loop = stacks_.loops.rbegin(); loop != stacks_.loops.rend(); ++loop) {
        a += turns % loop->extent * loop->a_step;
        b += turns % loop->extent * loop->b_step;
        turns /= loop->extent;
      }
      kernels::gemm::run(plan_, at(operands.inputs[0], a * p.m * p.k * size),
                         at(operands.inputs[1], b * p.k * p.n * size), nullptr, operands.output + i * p.m * p.n * size,
                         operands.workspace, pool);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes; }

  [[nodiscard]] double operations() const override {
    const kernels::gemm::Problem& p = plan_.problem;
    return 2.0 * static_cast<double>(stacks_.elements) * static_cast<double>(p.m) * static_cast<double>(p.n) *
           static_cast<double>(p.k);
  }

  [[nodiscard]] std::string describe() const override {
    const kernels::gemm::Problem& p = plan_.problem;
    return fmt::format("gemm {} {} {} x ({},{},{})", to_string(p.type), target_, stacks_.elements, p.m, p.n, p.k);
  }

 private:
  /// An operand without elements has no address.
  static const std::byte* at(const std::byte* start, std::int64_t offset) {
    return start == nullptr ? nullptr : start + offset;
  }

  kernels::gemm::Plan plan_;
  BroadcastPlan stacks_;
  std::string_view target_;
};

}  // namespace

Lowered lower_batched_gemm(const kernels::gemm::Problem& problem, const AlignedShapes& stacks,
                           const LoweringContext& context) {
  const std::int64_t a_matrices = *element_count(stacks.a);
  const std::int64_t b_matrices = *element_count(stacks.b);
  const bool a_is_row_major = problem.a_column_step == 1;
  if (b_matrices == 1 && (a_matrices == 1 || (a_is_row_major && problem.a_row_step == problem.k))) {
    kernels::gemm::Problem one = problem;
    one.m *= a_matrices;
    return lower_gemm(one, context);
  }
  const kernels::gemm::Plan plan = kernels::gemm::make_plan(problem, context.target, context.threads, false);
  return {std::make_unique<BatchedGemmCall>(plan, plan_broadcast(stacks.a, stacks.b), context.target.name), {}};
}

}  // namespace binet
