#include "kernels/gemm/bench/turns.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>

#include "kernels/gemm/bench/others.h"

namespace binet::kernels::gemm::bench {
namespace {

double now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const std::function<void()>& run, std::int64_t calls, int threads) {
  const clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const double begin = now(clock);
  for (std::int64_t i = 0; i < calls; ++i) run();
  return now(clock) - begin;
}

void warm_up(const Contestant& contestant, int threads) {
  if (threads == 1) {
    // A last-level cache may protect the data of the others, who had many turns: 64 MiB were read ten times on Emerald
    // Rapids until they came at full speed. Nobody is to be measured with operands from memory because they are his
    // alone, such as a B in a layout of his own.
    constexpr int kCalls = 10;
    constexpr double kLong = 0.05;  // seconds of such calls, about
    double seconds = 0;
    for (int i = 0; seconds < kLong && i < kCalls; ++i, seconds += contestant.seconds) contestant.run();
    return;
  }
  // First the workers of the library before must go to sleep. Then each library gets its own awake and onto a core of
  // their own: the system may leave a woken thread for several time slices on the core of the one that woke it.
  constexpr auto kSleep = std::chrono::milliseconds(5);
  constexpr double kWarmUp = 0.02;
  std::this_thread::sleep_for(kSleep);
  const double begin = now(CLOCK_MONOTONIC);
  do contestant.run();
  while (now(CLOCK_MONOTONIC) - begin < kWarmUp);
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

double estimate(const std::function<void()>& run, int threads) {
  constexpr double kLong = 1e-4;
  run();
  double seconds = 0;
  std::int64_t calls = 1;
  for (;; calls *= 4) {
    seconds = seconds_of(run, calls, threads);
    if (seconds >= kLong) return seconds / static_cast<double>(calls);
  }
}

bool measure(std::vector<Contestant*> contestants, int threads, const Effort& effort) {
  double fastest = contestants.front()->seconds;
  for (const Contestant* c : contestants) fastest = std::min(fastest, c->seconds);
  // Who is far behind need not be measured to the last per cent.
  constexpr double kFar = 1.7;
  constexpr int kRoughRounds = 3;
  std::vector<std::int64_t> calls;
  std::vector<int> rounds;
  // To read the clock takes a system call, after which, on some virtual machines, the core finds no translation of an
  // address in its buffers. A turn should not consist of what the first call then takes.
  constexpr std::int64_t kCallsToForgetTheClock = 8;
  constexpr double kLong = 1e-3;
  for (const Contestant* c : contestants) {
    const std::int64_t least = c->seconds < kLong ? kCallsToForgetTheClock : 1;
    calls.push_back(std::max(least, static_cast<std::int64_t>(effort.turn_seconds / c->seconds)));
    rounds.push_back(c->seconds < kFar * fastest ? effort.rounds : kRoughRounds);
  }
  std::vector<std::vector<double>> times(contestants.size());
  std::vector<std::size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::minstd_rand random;
  const auto take_turns = [&] {
    for (std::vector<double>& of_contestant : times) of_contestant.clear();
    for (int round = 0; round < effort.rounds; ++round) {
      // What one leaves in the caches meets each of the others.
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t i : order) {
        if (round >= rounds[i]) continue;
        warm_up(*contestants[i], threads);
        times[i].push_back(seconds_of(contestants[i]->run, calls[i], threads) / static_cast<double>(calls[i]));
      }
    }
  };
  constexpr int kAttempts = 3;
  bool is_disturbed = true;
  for (int attempt = 0; is_disturbed && attempt < kAttempts; ++attempt) {
    const Others others;
    take_turns();
    is_disturbed = threads > 1 && others.have_disturbed(threads);
  }
  for (std::size_t i = 0; i < contestants.size(); ++i) contestants[i]->seconds = median_of(times[i]);
  return !is_disturbed;
}

}  // namespace binet::kernels::gemm::bench
