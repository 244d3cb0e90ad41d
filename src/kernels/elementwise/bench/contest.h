// Room: kernels, benchmarks only. Several ways to do the same work, measured in turns, so that a change of clock or
// load meets all of them. Each round has an order of its own: what the one before leaves in the caches meets all, too.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace binet::kernels::elementwise::bench {

struct Contestant {
  std::string name;
  std::function<void()> work;  ///< empty: does not take part
  /// Has threads of its own, which may spin for a while after its work.
  bool own_threads = false;
};

/// The seconds of one call, by the contestants' places; of an empty one 0.
class Contest {
 public:
  Contest(std::vector<Contestant> contestants, int threads);

  /// Each contestant once more.
  void round();

  [[nodiscard]] double median(std::size_t contestant) const;
  [[nodiscard]] double last(std::size_t contestant) const { return times_[contestant].back(); }
  [[nodiscard]] const std::vector<Contestant>& contestants() const { return contestants_; }

 private:
  /// Measures the calls of one contestant after a few that find in the caches what others left there.
  void turn(std::size_t contestant, bool is_first);

  std::vector<Contestant> contestants_;
  int threads_;
  std::minstd_rand random_;
  std::vector<std::size_t> order_;  ///< of those that take part
  bool others_spin_ = false;        ///< threads of the contestant before, perhaps
  std::vector<int> repeats_;
  std::vector<std::vector<double>> times_;
};

}  // namespace binet::kernels::elementwise::bench
