// Room: threads. Tasks divided among the threads that work on them.
//
// Each thread has a share, a run of neighbouring tasks, the same one in every call: what it wrote the time before is
// still in its own caches, from where another core gets it slower than from memory that all of them share. Whoever is
// done with his share goes on with what others have not begun.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/aligned_buffer.h"

namespace binet {

class Shares {
 public:
  /// Of tasks 0 ... tasks - 1, for so many threads; more of them than kMost have some shares together.
  Shares(std::int64_t tasks, std::int64_t threads) : count_(std::clamp<std::int64_t>(threads, 1, kMost)) {
    std::int64_t begin = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      Share& share = shares_[static_cast<std::size_t>(i)];
      share.next = begin;
      begin = share.end = tasks / count_ * (i + 1) + std::min(i + 1, tasks % count_);
    }
  }

  /// A task that nobody has begun, for the thread of that number; -1 if none is left.
  std::int64_t take(std::int64_t thread) {
    for (std::int64_t i = 0; i < count_; ++i) {
      Share& share = shares_[static_cast<std::size_t>((thread + i) % count_)];
      const std::atomic_ref<std::int64_t> next(share.next);
      if (next.load(std::memory_order_relaxed) >= share.end) continue;
      if (const std::int64_t task = next.fetch_add(1); task < share.end) return task;
    }
    return -1;
  }

 private:
  static constexpr std::int64_t kMost = 64;

  // Plain numbers, as atomic ones would be set to zero, all kMost lines of them in each call.
  struct alignas(kCacheLine) Share {
    std::int64_t next, end;
  };

  const std::int64_t count_;
  std::array<Share, kMost> shares_;  // those beyond count_ are never touched
};

}  // namespace binet
