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
      share.next.store(begin, std::memory_order_relaxed);
      begin = share.end = tasks / count_ * (i + 1) + std::min(i + 1, tasks % count_);
    }
  }

  /// A task that nobody has begun, for the thread of that number; -1 if none is left.
  std::int64_t take(std::int64_t thread) {
    for (std::int64_t i = 0; i < count_; ++i) {
      Share& share = shares_[static_cast<std::size_t>((thread + i) % count_)];
      if (share.next.load(std::memory_order_relaxed) >= share.end) continue;
      if (const std::int64_t task = share.next.fetch_add(1); task < share.end) return task;
    }
    return -1;
  }

 private:
  static constexpr std::int64_t kMost = 64;

  struct alignas(kCacheLine) Share {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  const std::int64_t count_;
  std::array<Share, kMost> shares_;  // those beyond count_ are never touched
};

}  // namespace binet
