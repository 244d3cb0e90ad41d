// Room: base. The machine's caches.
#pragma once

#include <cstdint>

namespace binet {

/// Bytes of the last-level cache, at most 32 MiB: of a larger one, many cores share what there is. 32 MiB too where the
/// system does not say. Read once.
[[nodiscard]] std::int64_t last_level_cache_bytes();

/// Bytes of a core's first-level cache of data, from 32 to 128 KiB. 32 KiB where the system does not say. Read once.
[[nodiscard]] std::int64_t first_level_cache_bytes();

/// Bytes of a core's second-level cache, a power of two from 256 KiB to 2 MiB. 1 MiB where the system does not say.
/// Read once.
[[nodiscard]] std::int64_t second_level_cache_bytes();

/// Whether a core that writes gets less out of the last-level cache than out of memory: on the mesh of Intel's CPUs
/// with AVX-512 it does. A cache of many cores takes each line on its way out of theirs, and they leave a single one a
/// small part of it.
[[nodiscard]] bool last_level_cache_is_slow() noexcept;

/// Whether a core gets less out of the last-level cache than out of memory once it has filled three eighths of it, and
/// two cores once they have filled five eighths: so it was measured with AMD's Zen 3, and is taken for other x86 CPUs
/// without AVX-512.
[[nodiscard]] bool last_level_cache_is_left_early() noexcept;

/// Whether memory takes more from a core that streams than the last-level cache moves for it in three streams at once.
/// So it is with CPUs with AVX-512, but not with AMD's Zen 4, nor, of those without it, with its Zen 3.
[[nodiscard]] bool memory_takes_streams_fast() noexcept;

}  // namespace binet
