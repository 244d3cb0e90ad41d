#include "operators/operator_version.h"

#include <fmt/format.h>

namespace binet {

std::string_view to_string(AttributeKind kind) noexcept {
  switch (kind) {
    case AttributeKind::integer:
      return "int";
    case AttributeKind::real:
      return "float";
    case AttributeKind::text:
      return "string";
    case AttributeKind::integers:
      return "ints";
    case AttributeKind::reals:
      return "floats";
    case AttributeKind::tensor:
      return "tensor";
    case AttributeKind::unsupported:
      return "unsupported";
    case AttributeKind::boolean:
      return "boolean";
  }
  return "";
}

std::string versioned_name(const OperatorVersion& version) {
  return fmt::format("{}-{}", version.name, version.since_version);
}

}  // namespace binet
