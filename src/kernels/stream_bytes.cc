#include "kernels/stream_bytes.h"

#include <hwy/detect_compiler_arch.h>

#include <cstring>

#if HWY_ARCH_X86
#include <emmintrin.h>
#endif

namespace binet::kernels {

void stream_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) noexcept {
#if HWY_ARCH_X86
  constexpr std::int64_t kLine = 64;
  const std::int64_t before_line = -reinterpret_cast<std::intptr_t>(to) & (kLine - 1);
  if (before_line < bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(before_line));
    std::int64_t i = before_line;
    // Of 16 bytes, which every CPU has: the writes to a line are gathered on their way out.
    for (; i + kLine <= bytes; i += kLine) {
      const auto* const parts = reinterpret_cast<const __m128i*>(from + i);
      auto* const line = reinterpret_cast<__m128i*>(to + i);
      const __m128i part0 = _mm_loadu_si128(parts), part1 = _mm_loadu_si128(parts + 1);
      const __m128i part2 = _mm_loadu_si128(parts + 2), part3 = _mm_loadu_si128(parts + 3);
      _mm_stream_si128(line, part0);
      _mm_stream_si128(line + 1, part1);
      _mm_stream_si128(line + 2, part2);
      _mm_stream_si128(line + 3, part3);
    }
    from += i;
    to += i;
    bytes -= i;
  }
#endif
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace binet::kernels
