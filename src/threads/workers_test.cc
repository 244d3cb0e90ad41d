#include "threads/workers.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "binet/error.h"
#include "threads/thread_pool.h"

namespace binet {
namespace {

/// The threads of this process.
std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Workers, AreStartedWhenNeededAndGoneWithTheLastPool) {
  const std::ptrdiff_t before = thread_count();
  {
    const ThreadPool first(3);
    const ThreadPool second(2);
    EXPECT_EQ(thread_count(), before);
    first.run(3, [](std::int64_t) {});
    EXPECT_EQ(thread_count(), before + 2);
    second.run(2, [](std::int64_t) {});
    EXPECT_EQ(thread_count(), before + 2) << "workers are shared";
  }
  EXPECT_EQ(thread_count(), before);
}

TEST(Workers, AreStartedBeforehandIfAskedFor) {
  const std::ptrdiff_t before = thread_count();
  const ThreadPool pool(4);
  pool.start();
  EXPECT_EQ(thread_count(), before + 3);
}

/// As many tasks as threads that all wait for each other can only end if each has a thread of its own.
void meet(const ThreadPool& pool, int threads) {
  std::atomic<int> there = 0;
  pool.run(threads, [&](std::int64_t) {
    ++there;
    while (there < threads) std::this_thread::yield();
  });
}

TEST(Workers, WorkAtTheSameTime) {
  for (const int threads : {2, 3, 8}) meet(ThreadPool(threads), threads);
}

TEST(Workers, HelpAgainAfterTheyHaveSlept) {
  const ThreadPool pool(2);
  for (int round = 0; round < 5; ++round) {
    meet(pool, 2);
    ::usleep(2000);  // far longer than a worker watches: the next call finds it asleep
  }
}

/// The states of the other threads of this process, a letter each: R runs, S sleeps (proc(5)).
std::string states_of_others() {
  std::string states;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(::gettid())) continue;
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    states += text[text.rfind(')') + 2];
  }
  return states;
}

TEST(Workers, FallAsleepWhenNothingIsToBeDone) {
  const ThreadPool pool(4);
  meet(pool, 4);
  while (states_of_others() != "SSS") std::this_thread::yield();
}

TEST(Workers, AreStartedAnewInTheChildOfAFork) {
  const ThreadPool pool(2);
  meet(pool, 2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for threads that it does not have must not hang the test
    meet(pool, 2);
    ::_exit(thread_count() == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  meet(pool, 2);
}

TEST(DefaultThreads, AreReadFromTheEnvironment) {
  ASSERT_EQ(::setenv("BINET_THREADS", "3", 1), 0);
  EXPECT_EQ(default_threads(), 3);
  EXPECT_EQ(ThreadPool().threads(), 3);
  EXPECT_EQ(ThreadPool(2).threads(), 2) << "a number that is given goes first";
  for (const char* wrong : {"0", "-1", "many", "2x", "5000", "99999999999999999999999"}) {
    ASSERT_EQ(::setenv("BINET_THREADS", wrong, 1), 0);
    EXPECT_THROW(static_cast<void>(default_threads()), Error) << wrong;
  }
  ASSERT_EQ(::setenv("BINET_THREADS", "", 1), 0);
  EXPECT_EQ(default_threads(), available_cpus());
  ASSERT_EQ(::unsetenv("BINET_THREADS"), 0);
  EXPECT_EQ(default_threads(), available_cpus());
}

/// An executor that runs everything in the calling thread and counts.
class CountingExecutor final : public Executor {
 public:
  [[nodiscard]] int threads() const override { return 5; }
  void run(std::int64_t tasks, TaskRef task) override {
    ++calls;
    for (std::int64_t i = tasks; i-- > 0;) task(i);
  }
  int calls = 0;
};

TEST(ThreadPoolOfAnExecutor, HandsEverythingToIt) {
  const auto executor = std::make_shared<CountingExecutor>();
  const ThreadPool pool(executor);
  EXPECT_EQ(pool.threads(), 5);
  std::multiset<std::int64_t> seen;
  pool.run(3, [&](std::int64_t task) { seen.insert(task); });
  EXPECT_EQ(seen, (std::multiset<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(executor->calls, 1);
  pool.run(1, [&](std::int64_t task) { seen.insert(task); });
  EXPECT_EQ(executor->calls, 1) << "a single task is not worth a call";
}

}  // namespace
}  // namespace binet
