// Room: graph. From a Graph to a BoundGraph: every rule that needs names, versions, types or declared shapes.
//
//  - The operator sets are known; each node's operator exists in the imported one, and is bound to one version.
//  - Every attribute belongs to that version and has its kind; none is left over, none is there twice.
//  - Every name is defined once, before it is used (so there is no cycle), and every graph output is made.
//  - Element types are allowed by the version; shapes agree as far as they are declared.
//
// With collecting Findings the result may be incomplete and must not be run.
#pragma once

#include "graph/bound_graph.h"
#include "graph/findings.h"
#include "graph/graph.h"

namespace binet {

[[nodiscard]] BoundGraph bind(const Graph& graph, Findings& findings);

}  // namespace binet
