// Room: operators. ONNX Identity: the input, unchanged.
//
// https://onnx.ai/onnx/operators/onnx__Identity.html
#include <array>
#include <cstring>

#include "operators/onnx/onnx_operators.h"
#include "tensor/shape.h"

namespace binet::onnx {
namespace {

constexpr std::array<std::string_view, 1> kInputs = {"input"};

// All types that hold a whole number of bytes; a string, or an element under a byte, cannot be carried.
constexpr TypeSet kTypesOf1 = kFloatTypes | kWideIntegerTypes | kNarrowIntegerTypes |
                              TypeSet{ElementType::boolean, ElementType::complex64, ElementType::complex128};
constexpr TypeSet kTypesOf13 = kTypesOf1 | kBFloatType;
constexpr TypeSet kTypesOf19 =
    kTypesOf13 | TypeSet{ElementType::f8e4m3fn, ElementType::f8e4m3fnuz, ElementType::f8e5m2, ElementType::f8e5m2fnuz};
constexpr TypeSet kTypesOf24 = kTypesOf19 | TypeSet{ElementType::f8e8m0};

class CopyCall final : public KernelCall {
 public:
  explicit CopyCall(std::size_t bytes) : bytes_(bytes) {}
  void run(const Operands& operands, const ThreadPool& /*pool*/) const override {
    if (bytes_ != 0 && operands.output != operands.inputs[0]) std::memcpy(operands.output, operands.inputs[0], bytes_);
  }
  [[nodiscard]] bool may_overwrite(std::size_t /*input*/) const override { return true; }
  [[nodiscard]] std::string describe() const override { return "copy"; }

 private:
  std::size_t bytes_;
};

ValueType infer(const NodeView& node) { return *node.inputs[0]; }

Lowered lower(const NodeView& /*node*/, const ValueType& output, const LoweringContext& /*context*/) {
  const std::int64_t elements = *element_count(*output.shape);
  return {std::make_unique<CopyCall>(static_cast<std::size_t>(*byte_count(output.type, elements))), {}};
}

OperatorVersion version(int since, TypeSet types, std::string_view changed) {
  return {.name = "Identity",
          .domain = "ai.onnx",
          .since_version = since,
          .types = types,
          .attributes = {},
          .input_names = kInputs,
          .min_inputs = 1,
          .shape_rule = "the input's",
          .changed = changed,
          .infer = infer,
          .lower = lower};
}

}  // namespace

std::span<const OperatorVersion> identity_versions() noexcept {
  // clang-format off
  static const std::array kVersions = {
      version(1, kTypesOf1, "first version"),
      version(13, kTypesOf13, "bf16"),
      version(14, kTypesOf13, "sequences (not supported here)"),
      version(16, kTypesOf13, "optionals (not supported here)"),
      version(19, kTypesOf19, "8-bit floats"),
      version(21, kTypesOf19, "4-bit integers (not supported here)"),
      version(23, kTypesOf19, "4-bit floats (not supported here)"),
      version(24, kTypesOf24, "f8e8m0"),
      version(25, kTypesOf24, "2-bit integers (not supported here)"),
  };
  // clang-format on
  return kVersions;
}

}  // namespace binet::onnx
