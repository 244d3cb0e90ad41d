#include "kernels/elementwise/open_line.h"

#include <hwy/detect_compiler_arch.h>

#include <cstring>
#include <utility>

#if HWY_ARCH_X86
#include <emmintrin.h>
#endif

namespace binet::kernels::elementwise {

void OpenLine::finish() {
  std::byte* const to = y_ - kLineBytes;
  const std::int64_t begin = std::exchange(begin_, 0);
#if HWY_ARCH_X86
  if (begin == 0) {
    // Of 16 bytes, which every CPU has: the writes to a line are gathered on their way out.
    for (std::int64_t i = 0; i < kLineBytes; i += 16) {
      const __m128i part = _mm_load_si128(reinterpret_cast<const __m128i*>(line_ + i));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
    }
    return;
  }
#endif
  std::memcpy(to + begin, line_ + begin, static_cast<std::size_t>(kLineBytes - begin));
}

void OpenLine::close() {
  const std::int64_t end = bytes_in_line(y_);
  if (end > begin_) std::memcpy(y_ - (end - begin_), line_ + begin_, static_cast<std::size_t>(end - begin_));
}

}  // namespace binet::kernels::elementwise
