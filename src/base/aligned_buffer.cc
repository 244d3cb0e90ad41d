#include "base/aligned_buffer.h"

#include <cstdint>

#include "base/fail.h"

namespace binet {

AlignedBuffer::AlignedBuffer(std::size_t size) : size_(size) {
  if (size == 0) return;
  void* start = size > SIZE_MAX / 2 ? nullptr : std::aligned_alloc(kCacheLine, round_up_to_cache_line(size));
  if (start == nullptr) fail(ErrorCode::out_of_memory, "cannot allocate {} bytes", size);
  bytes_.reset(static_cast<std::byte*>(start));
}

}  // namespace binet
