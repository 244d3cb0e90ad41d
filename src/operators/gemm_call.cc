#include "operators/gemm_call.h"

#include <fmt/format.h>

#include "base/aligned_buffer.h"

namespace binet {
namespace {

class GemmCall final : public KernelCall {
 public:
  explicit GemmCall(const kernels::gemm::Plan& plan, std::string_view target) : plan_(plan), target_(target) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    const std::byte* c = plan_.problem.has_c ? operands.inputs[2] : nullptr;
    kernels::gemm::run(plan_, operands.inputs[0], operands.inputs[1], c, operands.output, operands.workspace, pool);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return plan_.workspace_bytes; }

  [[nodiscard]] std::string describe() const override {
    const kernels::gemm::Problem& p = plan_.problem;
    return fmt::format("gemm {} {} ({},{},{}){}", to_string(p.type), target_, p.m, p.n, p.k,
                       plan_.b_is_packed ? " B packed" : "");
  }

 private:
  kernels::gemm::Plan plan_;
  std::string_view target_;
};

/// A packed copy of a constant B, owned by whoever holds the pointer.
std::shared_ptr<const std::byte> pack(const kernels::gemm::Problem& problem, const Tensor& b,
                                      const LoweringContext& context) {
  const auto buffer = std::make_shared<AlignedBuffer>(kernels::gemm::packed_b_bytes(problem, context.target));
  if (buffer->size() == 0) return nullptr;
  kernels::gemm::pack_b(problem, context.target, b.bytes().data(), buffer->data(), ThreadPool(1));
  return {buffer, buffer->data()};
}

}  // namespace

Lowered lower_gemm(const kernels::gemm::Problem& problem, const LoweringContext& context) {
  constexpr std::size_t kB = 1;
  const Tensor* constant_b = kB < context.constants.size() ? context.constants[kB] : nullptr;
  std::vector<std::shared_ptr<const std::byte>> prepared;
  if (constant_b != nullptr && !context.prepared_earlier.empty()) {
    prepared.assign(context.prepared_earlier.begin(), context.prepared_earlier.end());
  } else if (constant_b != nullptr) {
    if (auto packed = pack(problem, *constant_b, context)) {
      prepared.resize(context.constants.size());
      prepared[kB] = std::move(packed);
    }
  }
  const kernels::gemm::Plan plan =
      kernels::gemm::make_plan(problem, context.target, context.threads, !prepared.empty());
  return {std::make_unique<GemmCall>(plan, context.target.name), std::move(prepared)};
}

kernels::gemm::Problem row_major_problem(ElementType type, std::int64_t m, std::int64_t n, std::int64_t k, bool trans_a,
                                         bool trans_b, const Shape* c) {
  kernels::gemm::Problem problem;
  problem.type = type;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a_row_step = trans_a ? 1 : k;
  problem.a_column_step = trans_a ? m : 1;
  problem.b_row_step = trans_b ? 1 : n;
  problem.b_column_step = trans_b ? k : 1;
  problem.has_c = c != nullptr;
  if (c != nullptr) {
    const Shape padded = pad_left(*c, 2);
    problem.c_row_step = padded[0] == 1 ? 0 : padded[1];
    problem.c_column_step = padded[1] == 1 ? 0 : 1;
  }
  return problem;
}

}  // namespace binet
