#include "runtime/arena_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/aligned_buffer.h"

namespace binet {
namespace {

bool live_together(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

/// The most bytes that live at once: no layout can be smaller.
std::size_t lower_bound(const std::vector<Lifetime>& lifetimes) {
  std::size_t most = 0;
  for (const Lifetime& at : lifetimes) {
    std::size_t sum = 0;
    for (const Lifetime& other : lifetimes) {
      if (other.first <= at.first && at.first <= other.last) sum += round_up_to_cache_line(other.bytes);
    }
    most = std::max(most, sum);
  }
  return most;
}

/// The best layout that placing in some order, each as low as possible, can give.
std::size_t best_of_all_orders(const std::vector<Lifetime>& lifetimes) {
  std::vector<std::size_t> order(lifetimes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::size_t best = static_cast<std::size_t>(-1);
  do {
    std::vector<std::size_t> offsets(lifetimes.size(), 0);
    std::size_t size = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::size_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t j = 0; j < i; ++j) {
          const Lifetime& other = lifetimes[order[j]];
          const std::size_t begin = offsets[order[j]];
          const std::size_t end = begin + round_up_to_cache_line(other.bytes);
          const std::size_t own_end = offset + round_up_to_cache_line(lifetimes[order[i]].bytes);
          if (live_together(other, lifetimes[order[i]]) && offset < end && begin < own_end) offset = end, moved = true;
        }
      }
      offsets[order[i]] = offset;
      size = std::max(size, offset + round_up_to_cache_line(lifetimes[order[i]].bytes));
    }
    best = std::min(best, size);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(ArenaLayout, NothingThatLivesTogetherOverlaps) {
  std::mt19937 random(20261120);
  std::size_t sum = 0;
  std::size_t sum_of_best = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lifetimes(1 + random() % 6);
    for (Lifetime& life : lifetimes) {
      life.first = random() % 8;
      life.last = life.first + random() % 4;
      life.bytes = random() % 1000;
    }
    const ArenaLayout layout = lay_out(lifetimes);
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_EQ(layout.offsets[i] % kCacheLine, 0u);
      EXPECT_LE(layout.offsets[i] + lifetimes[i].bytes, layout.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        if (!live_together(lifetimes[i], lifetimes[j]) || lifetimes[i].bytes == 0 || lifetimes[j].bytes == 0) continue;
        EXPECT_TRUE(layout.offsets[i] + lifetimes[i].bytes <= layout.offsets[j] ||
                    layout.offsets[j] + lifetimes[j].bytes <= layout.offsets[i])
            << "round " << round;
      }
    }
    const std::size_t best = best_of_all_orders(lifetimes);
    EXPECT_GE(layout.bytes, lower_bound(lifetimes));
    EXPECT_GE(layout.bytes, best);
    sum += layout.bytes;
    sum_of_best += best;
  }
  EXPECT_LT(static_cast<double>(sum), 1.05 * static_cast<double>(sum_of_best));
}

TEST(ArenaLayout, AChainNeedsTwoPlaces) {
  std::vector<Lifetime> chain;
  for (std::size_t i = 0; i < 50; ++i) chain.push_back({i, i + 1, 640});
  EXPECT_EQ(lay_out(chain).bytes, 2u * 640);
  EXPECT_EQ(lay_out({}).bytes, 0u);
}

}  // namespace
}  // namespace binet
