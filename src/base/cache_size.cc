#include "base/cache_size.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/target.h"

namespace binet {
namespace {

constexpr std::int64_t kMost = std::int64_t{32} << 20;

std::int64_t find_size() {
#if defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
  const std::int64_t size = std::max<std::int64_t>(::sysconf(_SC_LEVEL3_CACHE_SIZE), ::sysconf(_SC_LEVEL2_CACHE_SIZE));
  if (size > 0) return std::min(size, kMost);
#endif
  return kMost;
}

std::int64_t find_first_level_size() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const std::int64_t size = ::sysconf(_SC_LEVEL1_DCACHE_SIZE);
  if (size > 0) return std::clamp(size, std::int64_t{32} << 10, std::int64_t{128} << 10);
#endif
  return std::int64_t{32} << 10;
}

std::int64_t find_second_level_size() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  const std::int64_t size = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (size > 0) {
    const auto power_of_two = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
    return std::clamp(power_of_two, std::int64_t{1} << 18, std::int64_t{1} << 21);
  }
#endif
  return std::int64_t{1} << 20;
}

}  // namespace

std::int64_t last_level_cache_bytes() {
  static const std::int64_t size = find_size();
  return size;
}

std::int64_t first_level_cache_bytes() {
  static const std::int64_t size = find_first_level_size();
  return size;
}

std::int64_t second_level_cache_bytes() {
  static const std::int64_t size = find_second_level_size();
  return size;
}

bool last_level_cache_is_slow() noexcept { return is_intel_with_avx512(); }

bool last_level_cache_is_left_early() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return !__builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

bool memory_takes_streams_fast() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && !__builtin_cpu_is("amdfam19h");
#else
  return false;
#endif
}

}  // namespace binet
