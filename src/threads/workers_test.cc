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

/// The states of this process's workers, a letter each: R runs, S sleeps (proc(5)). They are known by their name: an
/// emulator or a sanitizer may have threads of its own.
std::string states_of_workers() {
  std::string states;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string text;
    std::getline(file, text);
    if (text.find("(binet)") != std::string::npos) states += text[text.rfind(')') + 2];
  }
  return states;
}

/// A pool of `threads` whose tasks wait for each other: it ends only if each has a thread of its own, which thereby has
/// got its name.
void meet(const ThreadPool& pool, int threads) {
  std::atomic<int> there = 0;
  pool.run(threads, [&](std::int64_t) {
    ++there;
    while (there < threads) std::this_thread::yield();
  });
}

TEST(Workers, AreStartedWhenNeededAndGoneWithTheLastPool) {
  {
    const ThreadPool first(3);
    const ThreadPool second(2);
    EXPECT_EQ(states_of_workers().size(), 0u);
    meet(first, 3);
    EXPECT_EQ(states_of_workers().size(), 2u);
    meet(second, 2);
    EXPECT_EQ(states_of_workers().size(), 2u) << "workers are shared";
  }
  // The kernel tells who joins a thread before it takes the thread off the list.
  while (!states_of_workers().empty()) std::this_thread::yield();
}

TEST(Workers, AreStartedBeforehandIfAskedFor) {
  const ThreadPool pool(4);
  pool.start();
  while (states_of_workers().size() != 3) std::this_thread::yield();  // each gives itself its name
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

TEST(Workers, FallAsleepWhenNothingIsToBeDone) {
  const ThreadPool pool(4);
  meet(pool, 4);
  while (states_of_workers() != "SSS") std::this_thread::yield();
}

TEST(Workers, SleepThroughShortCallsButNotForEver) {
  const ThreadPool pool(2);
  meet(pool, 2);
  while (states_of_workers() != "S") std::this_thread::yield();
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> is_helped = false;
  const auto short_call = [&] {
    pool.run(
        2,
        [&](std::int64_t) {
          if (std::this_thread::get_id() != caller) is_helped = true;
        },
        Sleepers::spare);
  };
  short_call();
  EXPECT_FALSE(is_helped);
  EXPECT_EQ(states_of_workers(), "S");
  while (!is_helped) {
    short_call();
    std::this_thread::yield();
  }
}

TEST(Workers, AreStartedAnewInTheChildOfAFork) {
#ifdef __SANITIZE_THREAD__
  // It ends a child that starts threads after a fork of a program with threads; every other build runs the test.
  GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
  const ThreadPool pool(2);
  meet(pool, 2);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // a child that waits for threads that it does not have must not hang the test
    meet(pool, 2);
    ::_exit(states_of_workers().size() == 1 ? 0 : 1);
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
