#include "kernels/elementwise/bench/contest.h"

#include <algorithm>
#include <chrono>

namespace binet::kernels::elementwise::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Long enough for the clock and for what the others left in the caches not to matter.
constexpr double kTurn = 3e-4;
/// A last-level cache that takes what other caches evict has not all of the operands again after one call, where the
/// contestant before streamed, or was slow; larger ones do not stay there anyway.
constexpr int kCallsBefore = 4;
constexpr double kLongCalls = 5e-3;
/// A sleeping worker may be woken on the core of the one that wakes it, and stay there for several time slices of the
/// kernel.
constexpr double kWarmUp = 12e-3;
/// The workers of the contestant before still spin: libgomp's for 300'000 pauses, which take 17 ms on CPUs since
/// Skylake.
constexpr double kWarmUpBesideSpinning = 30e-3;

}  // namespace

Contest::Contest(std::vector<Contestant> contestants, int threads)
    : contestants_(std::move(contestants)), threads_(threads), times_(contestants_.size()) {
  for (const Contestant& c : contestants_) {
    int repeats = 1;
    if (c.work) {
      c.work();
      for (;; repeats *= 2) {
        const auto begin = Clock::now();
        for (int i = 0; i < repeats; ++i) c.work();
        if (seconds_since(begin) >= kTurn) break;
      }
    }
    repeats_.push_back(repeats);
  }
}

std::size_t Contest::before(std::size_t contestant) const {
  do contestant = (contestant + contestants_.size() - 1) % contestants_.size();
  while (!contestants_[contestant].work);
  return contestant;
}

void Contest::turn(std::size_t contestant) {
  const Contestant& c = contestants_[contestant];
  if (!c.work) return times_[contestant].push_back(0);
  const bool takes_over = contestant == first_ || c.own_threads;
  double warm_up = takes_over ? kWarmUp : 0;
  if (contestants_[before(contestant)].own_threads) warm_up = kWarmUpBesideSpinning;
  if (threads_ == 1) warm_up = 0;
  const auto start = Clock::now();
  int calls = 0;
  do {
    c.work();
    ++calls;
  } while (seconds_since(start) < (calls < kCallsBefore ? std::max(warm_up, kLongCalls) : warm_up));
  const int repeats = repeats_[contestant];
  const auto begin = Clock::now();
  for (int i = 0; i < repeats; ++i) c.work();
  times_[contestant].push_back(seconds_since(begin) / repeats);
}

void Contest::round() {
  for (std::size_t i = 0; i < contestants_.size(); ++i) turn((first_ + i) % contestants_.size());
  first_ = (first_ + 1) % contestants_.size();
}

double Contest::median(std::size_t contestant) const {
  std::vector<double> sorted = times_[contestant];
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace binet::kernels::elementwise::bench
