#include "operators/registry.h"

#include <array>

#include "operators/onnx/onnx_operators.h"
#include "operators/openvino/openvino_operators.h"

namespace binet {

std::span<const std::span<const OperatorVersion>> all_operators() noexcept {
  static const std::array kOperators = {
      onnx::mul_versions(),      onnx::gemm_versions(),         onnx::constant_versions(),
      onnx::identity_versions(), openvino::multiply_versions(), openvino::matmul_versions(),
      openvino::add_versions(),  openvino::convert_versions(),
  };
  return kOperators;
}

std::span<const OperatorVersion> find_operator(std::string_view domain, std::string_view name) noexcept {
  for (const std::span<const OperatorVersion> versions : all_operators()) {
    if (versions.front().name == name && versions.front().domain == domain) return versions;
  }
  return {};
}

const OperatorVersion* select_version(std::span<const OperatorVersion> versions, std::int64_t opset) noexcept {
  const OperatorVersion* selected = nullptr;
  for (const OperatorVersion& version : versions) {
    if (version.since_version <= opset) selected = &version;
  }
  return selected;
}

std::vector<std::string_view> operator_names(std::string_view domain) {
  std::vector<std::string_view> names;
  for (const std::span<const OperatorVersion> versions : all_operators()) {
    if (versions.front().domain == domain) names.push_back(versions.front().name);
  }
  return names;
}

}  // namespace binet
