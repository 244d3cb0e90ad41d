// Room: runtime. The bytes that a plan needs, counted before they are asked for, against the session's limits.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/checked.h"
#include "base/fail.h"

namespace binet {

/// SessionOptions' limits; 0: none.
struct MemoryLimits {
  std::size_t tensor_bytes = 0;
  std::size_t memory_bytes = 0;
};

class MemoryCount {
 public:
  explicit MemoryCount(const MemoryLimits& limits) : limits_(limits) {}

  /// No value of that size is allowed.
  [[nodiscard]] bool is_too_large(std::size_t bytes) const noexcept {
    return limits_.tensor_bytes != 0 && bytes > limits_.tensor_bytes;
  }
  [[noreturn]] void refuse_tensor(std::string_view where, std::size_t bytes) const {
    fail(ErrorCode::out_of_memory, "{} has {} bytes; max_tensor_bytes allows {}", where, bytes, limits_.tensor_bytes);
  }

  /// Throws Error if `bytes` more, for `what`, are too many.
  void add(std::string_view where, std::string_view what, std::size_t bytes) {
    const auto total = checked_add(bytes_, bytes);
    if (!total || *total > SIZE_MAX / 4) fail(ErrorCode::out_of_memory, "{}: {} do not fit into memory", where, what);
    if (limits_.memory_bytes != 0 && *total > limits_.memory_bytes) {
      fail(ErrorCode::out_of_memory, "{}: {} need {} bytes, {} with what is needed already; max_memory_bytes allows {}",
           where, what, bytes, *total, limits_.memory_bytes);
    }
    bytes_ = *total;
  }
  void remove(std::size_t bytes) noexcept { bytes_ -= bytes; }

 private:
  MemoryLimits limits_;
  std::size_t bytes_ = 0;
};

}  // namespace binet
