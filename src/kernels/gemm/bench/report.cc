#include "kernels/gemm/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/target.h"
#include "kernels/gemm/bench/peak.h"

namespace binet::kernels::gemm::bench {
namespace {

// Smaller products are a matter of nanoseconds around the call, which the part "calls" looks at.
constexpr double kLeastOperations = 2.0 * 32 * 32 * 32;
constexpr double kTarget = 0.97;  // of the best peer's speed

constexpr struct {
  const char* name;
  double Times::*time;
} kKindsOfB[] = {{"given", &Times::given}, {"const", &Times::constant}};

std::string form_of(const Case& c) {
  static constexpr const char* kForms[] = {"", "+scalar", "+row", "+column", "+full"};
  return fmt::format("{}{}{}", c.trans_a ? "At" : "", c.trans_b ? "Bt" : "", kForms[static_cast<int>(c.c)]);
}

std::string name_of(const Case& c, const char* kind_of_b) {
  return fmt::format("{:<15} {:<4} {} {} {}", fmt::format("{}x{}x{}", c.m, c.n, c.k), to_string(c.type), c.threads,
                     kind_of_b, form_of(c));
}

std::string microseconds(double seconds) {
  if (seconds == 0) return "-";
  return seconds < 1e-5 ? fmt::format("{:.3f}", seconds * 1e6) : fmt::format("{:.1f}", seconds * 1e6);
}

double measure_peak(const Peak& peak) {
  constexpr std::int64_t kRounds = 20000;
  double operations = 0;
  Contestant contestant = {[&] { operations = peak.run(kRounds, default_target()); }};
  contestant.seconds = estimate(contestant.run, 1);
  measure({&contestant}, 1, {});
  return operations / contestant.seconds;
}

/// 0 where no peer has the case.
double best_of(const std::vector<Times>& peers, double Times::*time) {
  double best = 0;
  for (const Times& peer : peers) {
    if (peer.*time > 0 && (best == 0 || peer.*time < best)) best = peer.*time;
  }
  return best;
}

void print_line(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

}  // namespace

void Report::print_head() const {
  fmt::print("Binet's target: {}\n", default_target().name);
  for (const Peer& peer : peers_) fmt::print("{}: {}\n", peer.name, peer.about);
  fmt::print("\nPeak of one core, two operations to a multiply-add:\n");
  double f32 = 0;
  for (const Peak& peak : all_peaks()) {
    if (!peak.is_supported()) continue;
    const double rate = measure_peak(peak);
    if (f32 == 0) f32 = rate;
    fmt::print("  {:<38} {:7.1f} G/s  {:.2f} of f32\n", peak.name, rate / 1e9, rate / f32);
  }
}

void Report::begin_comparisons() const {
  fmt::print(
      "\nMicroseconds. given, const: B is given at run time, or constant and brought into a better layout before."
      "\npeak: the share of it that is reached; x1: the speed of that on one thread."
      "\nratio: the best peer's time over Binet's; < marks those below {}.\n",
      kTarget);
  std::string line =
      fmt::format("{:<37} {:>10} {:>8} {:>5} {:>5}", "MxNxK type threads B", "binet", "GFLOP/s", "peak", "x1");
  for (const Peer& peer : peers_) line += fmt::format(" {:>10}", peer.name);
  print_line(line + "  ratio");
}

void Report::print_wrong(const Comparison& comparison) {
  for (const std::string& wrong : comparison.wrong) {
    all_agree_ = false;
    print_line("  WRONG " + wrong);
  }
}

void Report::add(const Comparison& comparison) {
  const Case& c = comparison.c;
  for (const auto& kind : kKindsOfB) {
    const double seconds = comparison.binet.*kind.time;
    const double one_thread = comparison.beside.*kind.time;
    const double rate = operations(c) / seconds;
    std::string line =
        fmt::format("{:<37} {:>10} {:8.1f} {:5.2f} {:>5}", name_of(c, kind.name), microseconds(seconds), rate / 1e9,
                    rate / comparison.peak, one_thread == 0 ? "-" : fmt::format("{:.2f}", one_thread / seconds));
    for (const Times& peer : comparison.peers) line += fmt::format(" {:>10}", microseconds(peer.*kind.time));
    const double ratio = best_of(comparison.peers, kind.time) / seconds;
    const bool counts = ratio > 0 && operations(c) >= kLeastOperations;
    if (counts) ratios_.push_back({c, kind.name, ratio});
    if (ratio > 0) line += fmt::format("  {:5.2f}{}", ratio, counts && ratio < kTarget ? " <" : "");
    if (comparison.is_disturbed) line += "  disturbed by other programs";
    print_line(line);
  }
  print_wrong(comparison);
}

void Report::begin_types() const {
  print_line(
      "\nThe other types. own peak: of the matrix registers for bf16 and integers, where the target has them; else of"
      "\n64-bit multiplications and additions for i64 and u64, and that of f32 for others."
      "\nf32: the speed of that of Binet's f32 product; limit: what widening and rounding f16 leaves of it. Behind "
      "these,"
      "\nlibraries that have the type, and their best ratio.");
  print_line(fmt::format("{:<37} {:>10} {:>8} {:>8} {:>8} {:>5} {:>5}", "MxNxK type threads B", "binet", "GOP/s",
                         "own peak", "f32 peak", "f32", "limit"));
}

void Report::add_type(const Comparison& comparison) {
  const Case& c = comparison.c;
  for (const auto& kind : kKindsOfB) {
    const double seconds = comparison.binet.*kind.time;
    const double rate = operations(c) / seconds;
    const double f32 = comparison.beside.*kind.time;
    const double limit = comparison.conversions == 0 ? 0 : f32 / (f32 + comparison.conversions);
    std::string line =
        fmt::format("{:<37} {:>10} {:8.1f} {:8.2f} {:8.2f} {:5.2f} {:>5}", name_of(c, kind.name), microseconds(seconds),
                    rate / 1e9, rate / comparison.peak, rate / comparison.peak_f32, f32 / seconds,
                    limit == 0 ? "-" : fmt::format("{:.2f}", limit));
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      const double peer = comparison.peers[i].*kind.time;
      if (peer > 0) line += fmt::format("  {} {}", peers_[i].name, microseconds(peer));
    }
    const double ratio = best_of(comparison.peers, kind.time) / seconds;
    if (ratio > 0) line += fmt::format(" {:5.2f}", ratio);
    print_line(line);
  }
  print_wrong(comparison);
}

void Report::print_summary() const {
  if (ratios_.empty()) return;
  print_line("\nFrom 32^3 multiply-adds up, the best peer's time over Binet's:");
  const auto print = [](const std::string& name, const std::vector<Ratio>& ratios) {
    double sum_of_logarithms = 0;
    for (const Ratio& ratio : ratios) sum_of_logarithms += std::log(ratio.value);
    const auto is_below = [](const Ratio& ratio) { return ratio.value < kTarget; };
    const Ratio& worst = *std::min_element(ratios.begin(), ratios.end(),
                                           [](const Ratio& a, const Ratio& b) { return a.value < b.value; });
    print_line(fmt::format("  {:<10} {:3} lines: geometric mean {:.3f}, {} below {}, worst {:.3f} at {}", name,
                           ratios.size(), std::exp(sum_of_logarithms / static_cast<double>(ratios.size())),
                           std::count_if(ratios.begin(), ratios.end(), is_below), kTarget, worst.value,
                           name_of(worst.c, worst.kind_of_b)));
  };
  std::map<std::string, std::vector<Ratio>> groups;
  for (const Ratio& ratio : ratios_)
    groups[fmt::format("{} {}", to_string(ratio.c.type), ratio.c.threads)].push_back(ratio);
  for (const auto& [name, ratios] : groups) print(name, ratios);
  if (groups.size() > 1) print("all", ratios_);
}

}  // namespace binet::kernels::gemm::bench
