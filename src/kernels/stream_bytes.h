// Room: kernels. Writing results past the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace binet::kernels {

/// Copies so many bytes; with x86's instructions for it whole cache lines of `to` are not read before, nor kept, and
/// what is no whole line is stored. Before another thread may read them, the caller calls hwy::FlushStream().
void stream_bytes(const std::byte* from, std::byte* to, std::int64_t bytes) noexcept;

}  // namespace binet::kernels
