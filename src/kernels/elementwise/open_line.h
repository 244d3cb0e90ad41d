// Room: kernels. Streaming a result whose rows or tiles are no whole cache lines.
//
// A line of which one part is streamed and the other stored, or both streamed apart, is written to memory in part, or
// is fetched from there first: it costs several times what a whole one does. So what does not fill a line waits here
// for the rest, which the next row or tile of the task brings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace binet::kernels::elementwise {

inline constexpr std::int64_t kLineBytes = 64;

/// Bytes of y from its last line's beginning up to `to`.
inline std::int64_t bytes_in_line(const std::byte* to) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % std::uintptr_t{kLineBytes});
}

/// The line of y that one task has begun and not finished.
class OpenLine {
 public:
  /// `y`: where the task begins. The bytes before it in its line are another task's.
  explicit OpenLine(std::byte* y) : begin_(bytes_in_line(y)), y_(y) {}

  /// Where the bytes for `y` wait.
  [[nodiscard]] std::byte* place_of(const std::byte* y) { return line_ + bytes_in_line(y); }

  /// All before `to` is written: behind the last finished line, in its place.
  void advance(std::byte* to) {
    y_ = to;
    if (bytes_in_line(to) == 0) finish();
  }

  /// The task ends here: writes what still waits.
  void close();

 private:
  /// Writes the line that ends at y_.
  void finish();

  alignas(kLineBytes) std::byte line_[kLineBytes];
  std::int64_t begin_;  ///< of what waits
  std::byte* y_;        ///< where it ends in y
};

}  // namespace binet::kernels::elementwise
