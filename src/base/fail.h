// Room: base. The one way in which Binet's own code throws: fail(code, format, arguments...).
#pragma once

#include <fmt/format.h>

#include <utility>

#include "binet/error.h"

namespace binet {

template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace binet
