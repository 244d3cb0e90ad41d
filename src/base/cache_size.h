// Room: base. The size of the machine's last cache before memory.
#pragma once

#include <cstdint>

namespace binet {

/// Bytes of the last-level cache, at most 32 MiB: of a larger one, many cores share what there is. 32 MiB too where the
/// system does not say. Read once.
[[nodiscard]] std::int64_t last_level_cache_bytes();

}  // namespace binet
