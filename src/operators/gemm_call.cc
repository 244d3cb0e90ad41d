#include "operators/gemm_call.h"

#include <fmt/format.h>

#include "kernels/gemm/row_major.h"

namespace binet {
namespace {

constexpr std::size_t kB = 1;

class GemmCall final : public KernelCall {
 public:
  explicit GemmCall(const kernels::gemm::Plan& plan, std::string_view target) : plan_(plan), target_(target) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    const std::byte* c = plan_.problem.has_c ? operands.inputs[2] : nullptr;
    kernels::gemm::run(plan_, operands.inputs[0], operands.inputs[1], c, operands.output, operands.workspace, pool);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes; }

  [[nodiscard]] double operations() const override {
    const kernels::gemm::Problem& p = plan_.problem;
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  }

  [[nodiscard]] std::string describe() const override {
    const kernels::gemm::Problem& p = plan_.problem;
    return fmt::format("gemm {} {} ({},{},{}){}", to_string(p.type), target_, p.m, p.n, p.k,
                       plan_.b_is_packed ? " B packed" : "");
  }

 private:
  kernels::gemm::Plan plan_;
  std::string_view target_;
};

/// The packed form of a constant B. Its bytes depend on B, and on whether A is transposed, but not on how many rows
/// there are.
ConstantForm packed_b(const kernels::gemm::Problem& problem, const Target& target, std::size_t bytes) {
  ConstantForm form;
  form.input = kB;
  form.key = {static_cast<std::int64_t>(problem.type),
              target.highway,
              problem.n,
              problem.k,
              problem.b_row_step,
              problem.b_column_step,
              static_cast<std::int64_t>(problem.a_row_step == 1)};
  form.bytes = bytes;
  form.make = [problem, &target](const std::byte* b, std::byte* packed, const ThreadPool& pool) {
    kernels::gemm::pack_b(problem, target, b, packed, pool);
  };
  return form;
}

}  // namespace

Lowered lower_gemm(const kernels::gemm::Problem& problem, const LoweringContext& context) {
  const bool b_is_constant = kB < context.constant_inputs.size() && context.constant_inputs[kB] != 0;
  const bool may_pack = b_is_constant && kernels::gemm::repays_packing(problem, context.target);
  const std::size_t packed_bytes = may_pack ? kernels::gemm::packed_b_bytes(problem, context.target) : 0;
  const bool b_is_packed = packed_bytes != 0;
  const kernels::gemm::Plan plan = kernels::gemm::make_plan(problem, context.target, context.threads, b_is_packed);
  Lowered lowered{std::make_unique<GemmCall>(plan, context.target.name), {}};
  if (b_is_packed) lowered.forms.push_back(packed_b(problem, context.target, packed_bytes));
  return lowered;
}

kernels::gemm::Problem row_major_problem(ElementType type, std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a,
                                         bool trans_b, const Shape* c) {
  kernels::gemm::Problem problem = kernels::gemm::row_major_product(type, m, n, k, trans_a, trans_b);
  problem.has_c = c != nullptr;
  if (c != nullptr) {
    const Shape padded = pad_left(*c, 2);
    problem.c_row_step = padded[0] == 1 ? 0 : padded[1];
    problem.c_column_step = padded[1] == 1 ? 0 : 1;
  }
  return problem;
}

}  // namespace binet
