#include "kernels/gemm/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

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
      "\nratio: the best peer's time over Binet's; < marks those below {}.\n",
      kTarget);
  std::string line = fmt::format("{:<37} {:>10} {:>8} {:>5}", "MxNxK type threads B", "binet", "GFLOP/s", "peak");
  for (const Peer& peer : peers_) line += fmt::format(" {:>10}", peer.name);
  print_line(line + "  ratio");
}

double Report::print_peers(const Comparison& comparison, double Times::*time, double binet) const {
  double best = 0;
  for (const Times& peer : comparison.peers) {
    fmt::print(" {:>10}", microseconds(peer.*time));
    if (peer.*time > 0 && (best == 0 || peer.*time < best)) best = peer.*time;
  }
  return best / binet;
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
    const double rate = operations(c) / seconds;
    fmt::print("{:<37} {:>10} {:8.1f} {:5.2f}", name_of(c, kind.name), microseconds(seconds), rate / 1e9,
               rate / comparison.peak);
    const double ratio = print_peers(comparison, kind.time, seconds);
    const bool counts = ratio > 0 && operations(c) >= kLeastOperations;
    if (counts) ratios_.push_back({name_of(c, kind.name), ratio});
    print_line(ratio == 0 ? "      -" : fmt::format("  {:5.2f}{}", ratio, counts && ratio < kTarget ? " <" : ""));
  }
  print_wrong(comparison);
}

void Report::begin_types() const {
  fmt::print(
      "\nThe other types. own peak: of 64-bit multiplications and additions for i64 and u64, else that of f32."
      "\nf32: the time of Binet's f32 product over this one's.\n");
  std::string line = fmt::format("{:<37} {:>10} {:>8} {:>8} {:>8} {:>5}", "MxNxK type threads B", "binet", "GOP/s",
                                 "own peak", "f32 peak", "f32");
  for (const Peer& peer : peers_) line += fmt::format(" {:>10}", peer.name);
  print_line(line + "  ratio");
}

void Report::add_type(const Comparison& comparison) {
  const Case& c = comparison.c;
  for (const auto& kind : kKindsOfB) {
    const double seconds = comparison.binet.*kind.time;
    const double rate = operations(c) / seconds;
    fmt::print("{:<37} {:>10} {:8.1f} {:8.2f} {:8.2f} {:5.2f}", name_of(c, kind.name), microseconds(seconds),
               rate / 1e9, rate / comparison.peak, rate / comparison.peak_f32,
               comparison.binet_f32.*kind.time / seconds);
    const double ratio = print_peers(comparison, kind.time, seconds);
    print_line(ratio == 0 ? "      -" : fmt::format("  {:5.2f}", ratio));
  }
  print_wrong(comparison);
}

void Report::print_summary() const {
  if (ratios_.empty()) return;
  double sum_of_logarithms = 0;
  for (const Ratio& ratio : ratios_) sum_of_logarithms += std::log(ratio.value);
  const auto below = std::count_if(ratios_.begin(), ratios_.end(), [](const Ratio& r) { return r.value < kTarget; });
  const auto worst = std::min_element(ratios_.begin(), ratios_.end(),
                                      [](const Ratio& a, const Ratio& b) { return a.value < b.value; });
  fmt::print("\nFrom 32^3 multiply-adds up, {} lines: geometric mean {:.3f}, {} below {}, worst {:.3f} at {}\n",
             ratios_.size(), std::exp(sum_of_logarithms / static_cast<double>(ratios_.size())), below, kTarget,
             worst->value, worst->name);
}

}  // namespace binet::kernels::gemm::bench
