#include "operators/four_bit_call.h"

#include <fmt/format.h>

#include "base/aligned_buffer.h"
#include "kernels/convert/convert.h"
#include "tensor/shape.h"

namespace binet {
namespace {

class FourBitCall final : public KernelCall {
 public:
  FourBitCall(kernels::elementwise::Operation operation, ElementType type, const AlignedShapes& shapes,
              const Target& target)
      : plan_(kernels::elementwise::make_plan(operation, ElementType::u8, plan_broadcast(shapes.a, shapes.b), target)),
        unpack_(kernels::convert::find_kernel(ElementType::u4, ElementType::u8)),
        pack_(kernels::convert::find_kernel(ElementType::u8, ElementType::u4)),
        type_(type),
        a_elements_(*element_count(shapes.a)),
        b_elements_(*element_count(shapes.b)) {}

  void run(const Operands& operands, const ThreadPool& pool) const override {
    if (plan_.loops.elements == 0) return;
    std::byte* const a = operands.workspace;
    std::byte* const b = a + place(a_elements_);
    std::byte* const y = b + place(b_elements_);
    kernels::convert::run(unpack_, a_elements_, operands.inputs[0], a, pool);
    kernels::convert::run(unpack_, b_elements_, operands.inputs[1], b, pool);
    kernels::elementwise::run(plan_, a, b, y, pool);
    kernels::convert::run(pack_, plan_.loops.elements, y, operands.output, pool);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return place(a_elements_) + place(b_elements_) + place(plan_.loops.elements);
  }

  [[nodiscard]] double operations() const override { return static_cast<double>(plan_.loops.elements); }

  [[nodiscard]] std::string describe() const override { return fmt::format("elementwise {} as u8", to_string(type_)); }

 private:
  static std::size_t place(std::int64_t elements) { return round_up_to_cache_line(static_cast<std::size_t>(elements)); }

  kernels::elementwise::Plan plan_;
  kernels::convert::ConvertFunction unpack_;
  kernels::convert::ConvertFunction pack_;
  ElementType type_;
  std::int64_t a_elements_;
  std::int64_t b_elements_;
};

}  // namespace

Lowered lower_four_bit(kernels::elementwise::Operation operation, ElementType type, const AlignedShapes& shapes,
                       const LoweringContext& context) {
  return {std::make_unique<FourBitCall>(operation, type, shapes, context.target), {}};
}

}  // namespace binet
