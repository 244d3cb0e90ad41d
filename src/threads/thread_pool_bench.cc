// What a call of the pool costs: two tasks of a given length, the calls following one another or a pause apart.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "threads/thread_pool.h"

namespace binet {
namespace {

using Clock = std::chrono::steady_clock;

void work(std::chrono::nanoseconds time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

double cpu_microseconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

/// Arguments: nanoseconds of a task, microseconds between calls. Counters: the call's time at the middle and at the
/// 99th percentile; CPU time of a call with its pause.
void BM_TwoTasks(benchmark::State& state) {
  const ThreadPool pool(2);
  const std::chrono::nanoseconds task(state.range(0));
  const auto pause = static_cast<useconds_t>(state.range(1));
  std::vector<double> times;
  const double cpu_before = cpu_microseconds();
  for (auto _ : state) {
    if (pause != 0) ::usleep(pause);
    const auto begin = Clock::now();
    pool.run(2, [&](std::int64_t) { work(task); });
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    times.push_back(seconds * 1e6);
    state.SetIterationTime(seconds);
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
  state.counters["cpu_us"] = (cpu_microseconds() - cpu_before) / static_cast<double>(times.size());
}

BENCHMARK(BM_TwoTasks)
    ->ArgNames({"task_ns", "pause_us"})
    ->UseManualTime()
    ->Iterations(2000)
    ->ArgsProduct({{0, 5'000, 50'000}, {0, 50}});
BENCHMARK(BM_TwoTasks)
    ->ArgNames({"task_ns", "pause_us"})
    ->UseManualTime()
    ->Iterations(200)
    ->ArgsProduct({{5'000, 50'000, 500'000}, {5'000, 40'000}});

}  // namespace
}  // namespace binet

BENCHMARK_MAIN();
