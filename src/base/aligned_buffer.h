// Room: base. Owned bytes, aligned to a cache line so that no vector of a kernel straddles two.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace binet {

inline constexpr std::size_t kCacheLine = 64;

/// `value` rounded up to a whole number of cache lines; the caller knows that it does not overflow.
[[nodiscard]] constexpr std::size_t round_up_to_cache_line(std::size_t value) noexcept {
  return (value + kCacheLine - 1) / kCacheLine * kCacheLine;
}

class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /// Uninitialized bytes; throws Error (out_of_memory).
  explicit AlignedBuffer(std::size_t size);

  [[nodiscard]] std::byte* data() const noexcept { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace binet
