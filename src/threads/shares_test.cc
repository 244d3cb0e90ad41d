#include "threads/shares.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace binet {
namespace {

using Tasks = std::vector<std::int64_t>;

Tasks take_all(Shares& shares, std::int64_t thread) {
  Tasks tasks;
  for (std::int64_t task = shares.take(thread); task >= 0; task = shares.take(thread)) tasks.push_back(task);
  return tasks;
}

TEST(Shares, AThreadTakesItsOwnFirst) {
  const struct {
    std::int64_t tasks, threads, thread;
    Tasks taken;
  } cases[] = {
      {0, 2, 0, {}},
      {1, 2, 0, {0}},
      {1, 2, 1, {0}},
      {8, 2, 0, {0, 1, 2, 3, 4, 5, 6, 7}},
      {8, 2, 1, {4, 5, 6, 7, 0, 1, 2, 3}},
      {7, 3, 0, {0, 1, 2, 3, 4, 5, 6}},
      {7, 3, 1, {3, 4, 5, 6, 0, 1, 2}},
      {7, 3, 2, {5, 6, 0, 1, 2, 3, 4}},
      {2, 3, 2, {0, 1}},
      {4, 2, 3, {2, 3, 0, 1}},  // a fourth thread, of a pool that may use two
  };
  for (const auto& c : cases) {
    Shares shares(c.tasks, c.threads);
    EXPECT_EQ(take_all(shares, c.thread), c.taken) << c.tasks << " tasks of " << c.threads << ", thread " << c.thread;
  }
}

TEST(Shares, WhatOthersHaveBegunIsNotTaken) {
  Shares shares(8, 2);
  EXPECT_EQ(shares.take(1), 4);
  EXPECT_EQ(shares.take(1), 5);
  EXPECT_EQ(take_all(shares, 0), (Tasks{0, 1, 2, 3, 6, 7}));
  EXPECT_EQ(shares.take(1), -1);
}

TEST(Shares, EachTaskIsTakenOnce) {
  constexpr std::int64_t kTasks = 10'000;
  for (const std::int64_t threads : {2, 3, 64, 100}) {
    Shares shares(kTasks, threads);
    std::vector<Tasks> taken(4);
    std::vector<std::thread> takers;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      takers.emplace_back([&, i] { taken[i] = take_all(shares, static_cast<std::int64_t>(i) * threads / 4); });
    }
    for (std::thread& taker : takers) taker.join();
    std::vector<int> times(kTasks);
    for (const Tasks& tasks : taken) {
      for (const std::int64_t task : tasks) ++times[static_cast<std::size_t>(task)];
    }
    EXPECT_EQ(times, std::vector<int>(kTasks, 1)) << threads << " threads";
  }
}

}  // namespace
}  // namespace binet
