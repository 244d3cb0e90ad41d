// Room: base. For tests of any room.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "binet/error.h"

namespace binet::testing {

/// What an action says when it fails, or "accepted".
std::string message_of(const auto& action) {
  try {
    action();
    return "accepted";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Where random numbers begin: `standard`, or what the environment's BINET_TEST_SEED gives. Printed, so that a failure
/// can be repeated.
inline std::uint64_t seed(std::uint64_t standard) {
  const char* const given = std::getenv("BINET_TEST_SEED");
  const std::uint64_t value = given == nullptr ? standard : std::strtoull(given, nullptr, 10);
  std::printf("BINET_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

}  // namespace binet::testing
