// Room: base. The sizes of the machine's caches.
#pragma once

#include <cstdint>

namespace binet {

/// Bytes of the last-level cache, at most 32 MiB: of a larger one, many cores share what there is. 32 MiB too where the
/// system does not say. Read once.
[[nodiscard]] std::int64_t last_level_cache_bytes();

/// Bytes of a core's second-level cache, a power of two from 256 KiB to 2 MiB. 1 MiB where the system does not say.
/// Read once.
[[nodiscard]] std::int64_t second_level_cache_bytes();

}  // namespace binet
