// Room: threads. Sleeping until a number changes, and waking who sleeps on it (futex(2)).
//
// std::atomic::wait would do the same, but spins and yields by itself before it sleeps.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace binet {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Sleeps while `word` holds `value`; may return for no reason.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

inline void futex_wake_all(std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace binet
