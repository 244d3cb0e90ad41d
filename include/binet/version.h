// The version of the library.
#pragma once

#include <string_view>

#include "binet/export.h"

namespace binet {

/// "0.1.0".
[[nodiscard]] BINET_EXPORT std::string_view version() noexcept;

}  // namespace binet
