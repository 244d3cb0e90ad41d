#include "kernels/elementwise/open_line.h"

#include <cstring>
#include <utility>

#include "kernels/stream_bytes.h"

namespace binet::kernels::elementwise {

void OpenLine::finish() {
  std::byte* const to = y_ - kLineBytes;
  const std::int64_t begin = std::exchange(begin_, 0);
  if (begin == 0) return stream_bytes(line_, to, kLineBytes);
  std::memcpy(to + begin, line_ + begin, static_cast<std::size_t>(kLineBytes - begin));
}

void OpenLine::close() {
  const std::int64_t end = bytes_in_line(y_);
  if (end > begin_) std::memcpy(y_ - (end - begin_), line_ + begin_, static_cast<std::size_t>(end - begin_));
}

}  // namespace binet::kernels::elementwise
