#include "threads/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace binet {
namespace {

void expect_each_task_once(const ThreadPool& pool, std::int64_t tasks) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
  pool.run(tasks, [&](std::int64_t task) { ++runs[static_cast<std::size_t>(task)]; });
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i], 1) << "task " << i << " of " << tasks;
}

TEST(ThreadPool, RunsEachTaskOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::int64_t tasks : {0, 1, 2, 7, 1000}) expect_each_task_once(pool, tasks);
  }
}

TEST(ThreadPool, CountsTheCpusOfTheProcessByDefault) {
  EXPECT_GE(available_cpus(), 1);
  EXPECT_EQ(ThreadPool().threads(), available_cpus());
}

TEST(ThreadPool, SeesWhatTheTasksWrote) {
  const ThreadPool pool(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::int64_t> values(64);
    pool.run(64, [&](std::int64_t task) { values[static_cast<std::size_t>(task)] = task * task; });
    for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i * i);
  }
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
  const ThreadPool pool(2);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&pool] {
      for (int round = 0; round < 50; ++round) expect_each_task_once(pool, 33);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, MayBeCalledFromATask) {
  const ThreadPool pool(2);
  std::atomic<int> runs = 0;
  pool.run(4, [&](std::int64_t) { pool.run(5, [&](std::int64_t) { ++runs; }); });
  EXPECT_EQ(runs, 20);
}

TEST(ThreadPool, RunsInTheCallerWithOneThreadOrOneTask) {
  const auto caller = std::this_thread::get_id();
  const ThreadPool one(1);
  one.run(10, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
  const ThreadPool two(2);
  two.run(1, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(ThreadPool, RunsTasksInOrderOnOneThread) {
  std::vector<std::int64_t> order;
  ThreadPool(1).run(5, [&](std::int64_t task) { order.push_back(task); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace binet
