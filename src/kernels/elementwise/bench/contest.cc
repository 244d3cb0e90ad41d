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
  for (std::size_t i = 0; i < contestants_.size(); ++i) {
    const Contestant& c = contestants_[i];
    int repeats = 1;
    if (c.work) {
      order_.push_back(i);
      c.work();
      for (;; repeats *= 2) {
        const auto begin = Clock::now();
        for (int call = 0; call < repeats; ++call) c.work();
        if (seconds_since(begin) >= kTurn) break;
      }
    }
    repeats_.push_back(repeats);
  }
}

void Contest::turn(std::size_t contestant, bool is_first) {
  const Contestant& c = contestants_[contestant];
  double warm_up = is_first || c.own_threads ? kWarmUp : 0;
  if (others_spin_) warm_up = kWarmUpBesideSpinning;
  if (threads_ == 1) warm_up = 0;
  others_spin_ = c.own_threads;
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
  std::shuffle(order_.begin(), order_.end(), random_);
  for (const std::size_t contestant : order_) turn(contestant, contestant == order_.front());
}

double Contest::median(std::size_t contestant) const {
  if (times_[contestant].empty()) return 0;
  std::vector<double> sorted = times_[contestant];
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace binet::kernels::elementwise::bench
