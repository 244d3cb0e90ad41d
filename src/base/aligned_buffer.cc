#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/fail.h"

namespace binet {
namespace {

// Matrices of some MiB are read panel by panel and row by row; with pages of 4 KiB the walk through the page tables
// costs large products 2 to 3 %. Smaller buffers would waste most of a large page.
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kLeastForLargePages = 2 * kLargePage;

void* allocate(std::size_t size) {
  if (size > SIZE_MAX / 2) return nullptr;
  if (size < kLeastForLargePages) return std::aligned_alloc(kCacheLine, round_up_to_cache_line(size));
  void* start = std::aligned_alloc(kLargePage, (size + kLargePage - 1) / kLargePage * kLargePage);
#ifdef MADV_HUGEPAGE
  // A wish; the last page stays small unless the buffer fills it.
  if (start != nullptr) madvise(start, size / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return start;
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t size) : size_(size) {
  if (size == 0) return;
  void* start = allocate(size);
  if (start == nullptr) fail(ErrorCode::out_of_memory, "cannot allocate {} bytes", size);
  bytes_.reset(static_cast<std::byte*>(start));
}

}  // namespace binet
