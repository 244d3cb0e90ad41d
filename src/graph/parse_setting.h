// Room: graph. Attributes that a file holds as text (OpenVINO IR), read as what the operator's rule says they are.
#pragma once

#include <optional>
#include <string_view>

#include "operators/operator_version.h"

namespace binet {

/// The value that `text` stands for; nothing if it is not of that kind. Blanks around a number mean nothing; a list is
/// numbers with commas between them, perhaps none; a boolean is true, false, 1 or 0. No text stands for a tensor.
[[nodiscard]] std::optional<AttributeSetting> parse_setting(AttributeKind kind, std::string_view text);

}  // namespace binet
