// Room: graph. Binding of a single node: its operator's version, its attributes, the types of its inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/findings.h"
#include "graph/graph.h"
#include "operators/operator_version.h"

namespace binet {

using OpsetVersions = std::map<std::string, std::int64_t, std::less<>>;

/// Checks the imports of a model and arranges them by domain.
[[nodiscard]] OpsetVersions bind_imports(const Graph& graph, Findings& findings);

/// The version of the node's operator that the imports select. Throws Error whose message starts with `where`.
[[nodiscard]] const OperatorVersion& select_operator(const Node& node, const OpsetVersions& opsets,
                                                     const std::string& where);

/// The node's attributes in the order of the version's rules, defaults filled in.
[[nodiscard]] std::vector<AttributeSetting> bind_attributes(const Node& node, const OperatorVersion& version,
                                                            const std::string& where, Findings& findings);

/// Throws Error unless every input has a type that the version allows, and all the same one.
void check_types(const NodeView& node, const std::string& where);

/// Throws Error unless the version allows the type; `what` is "input A" or "the value".
void check_type(const OperatorVersion& version, ElementType type, std::string_view what, const std::string& where);

}  // namespace binet
