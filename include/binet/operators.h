// What Binet supports: every version of every operator, as data.
#pragma once

#include <string>
#include <vector>

#include "binet/element_type.h"
#include "binet/export.h"

namespace binet {

struct AttributeRuleDescription {
  std::string name;
  std::string type;           ///< int, float, string, ints, floats, tensor, boolean
  std::string default_value;  ///< empty: none
};

struct OperatorDescription {
  std::string name;
  std::string domain;
  int since_version = 0;
  std::vector<ElementType> types;
  std::vector<AttributeRuleDescription> attributes;
  std::vector<std::string> inputs;
  int min_inputs = 0;
  std::string shape_rule;
  std::string changed;
};

/// All versions, an operator's together, from old to new.
[[nodiscard]] BINET_EXPORT std::vector<OperatorDescription> supported_operators();

}  // namespace binet
