// Room: operators. All operators, and the choice of the version that a model means.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "operators/operator_version.h"

namespace binet {

/// The newest operator set of each domain that has been compared with the tables here: a model that imports a newer one
/// may mean something else by the same name, and is refused.
inline constexpr std::int64_t kNewestOnnxOpset = 26;

/// The rows of every operator: one span an operator, versions from old to new.
[[nodiscard]] std::span<const std::span<const OperatorVersion>> all_operators() noexcept;

/// The rows of one operator; empty if it is not known.
[[nodiscard]] std::span<const OperatorVersion> find_operator(std::string_view domain, std::string_view name) noexcept;

/// The newest of `versions` that is not above `opset` (onnx/docs/Versioning.md); null if the operator is younger.
[[nodiscard]] const OperatorVersion* select_version(std::span<const OperatorVersion> versions,
                                                    std::int64_t opset) noexcept;

/// The names of a domain's operators.
[[nodiscard]] std::vector<std::string_view> operator_names(std::string_view domain);

}  // namespace binet
