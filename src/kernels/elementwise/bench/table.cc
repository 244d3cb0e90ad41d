#include "kernels/elementwise/bench/table.h"

#include <algorithm>
#include <cstdio>

#include "base/target.h"
#include "kernels/elementwise/bench/operands.h"

namespace binet::kernels::elementwise::bench {
namespace {

constexpr char kLine[] = "%-58s %-4s %d %11.4g %9.4g %9.4g %9.4g %9.4g %6.2f %6.2f %7.2f %7.2f %7.2f %7.2f  %s\n";
constexpr char kHead[] = "%-58s %-4s %s %11s %9s %9s %9s %9s %6s %6s %7s %7s %7s %7s  %s\n";

/// Less than what two runs of one loop differ by.
constexpr double kAsFast = 0.97;

/// What is missed, in words; empty if nothing is.
std::string missed(const Result& r) {
  std::string text;
  const auto add = [&](const char* format, double wanted) {
    char part[64];
    std::snprintf(part, sizeof(part), format, wanted);
    text += text.empty() ? "" : ", ";
    text += part;
  };
  if (r.test.of_limit != 0 && r.of_limit() < r.test.of_limit) {
    add("limit<%.2f", r.test.of_limit);
    // No product can be faster than its arithmetic: where that takes longer than the bytes, the most that is possible.
    const double most = r.of_limit() / std::max(r.of_arithmetic(), r.of_limit());
    if (most < r.test.of_limit) add("arithmetic allows %.2f", most);
  }
  if (r.test.microseconds != 0 && r.binet * 1e6 > r.test.microseconds) add("us>%.2f", r.test.microseconds);
  if (!r.test.whole_call && r.to_best_peer() != 0 && r.to_best_peer() < kAsFast) add("peer<%.2f", kAsFast);
  return text;
}

void print(const Result& r) {
  const auto to = [&](double other) { return other / r.binet; };
  std::printf(kLine, r.test.name.c_str(), std::string(to_string(r.test.type)).c_str(), r.test.threads, r.binet * 1e6,
              r.copy * 1e6, r.multiply * 1e6, r.fetching * 1e6, r.streaming * 1e6, r.of_limit(), r.of_arithmetic(),
              to(r.plain), to(r.plain_native), to(r.eigen), to(r.onednn), missed(r).c_str());
  std::fflush(stdout);
}

bool is_same_but_threads(const Case& x, const Case& y) {
  return x.name == y.name && x.type == y.type && x.threads != y.threads;
}

}  // namespace

double Result::to_best_peer() const {
  double best = 0;
  for (const double peer : {plain, eigen, onednn}) {
    if (peer != 0 && (best == 0 || peer < best)) best = peer;
  }
  return best / binet;
}

bool Table::ReportContext(const Context& /*context*/) {
  std::printf(
      "target %s; times in us of one call: binet, then loops made by hand over the same bytes that copy, multiply,\n"
      "multiply and fetch the lines of the result beforehand, and multiply with streaming stores; limit: the fastest "
      "of\n"
      "the last three over binet; arith: the arithmetic of 16-bit floats and of integers that are multiplied in steps\n"
      "alone over binet; then the time of each peer over binet's (above 1 binet is faster; 0 is absent)\n",
      std::string(default_target().name).c_str());
  std::printf(kHead, "case", "type", "t", "binet", "copy", "multiply", "fetching", "streaming", "limit", "arith",
              "plain", "native", "eigen", "onednn", "missed");
  return true;
}

void Table::ReportRuns(const std::vector<Run>& /*runs*/) {
  if (!results_.empty()) print(results_.back());
}

void Table::Finalize() {
  std::printf("\nFrom one thread to two: case, type, times faster; what the faster of the hand-made loops gains\n");
  for (const Result& two : results_) {
    if (two.test.threads != 2) continue;
    const auto one = std::find_if(results_.begin(), results_.end(),
                                  [&](const Result& r) { return is_same_but_threads(r.test, two.test); });
    if (one == results_.end()) continue;
    std::printf("%-58s %-4s %5.2f %5.2f\n", two.test.name.c_str(), std::string(to_string(two.test.type)).c_str(),
                one->binet / two.binet, one->limit() / two.limit());
  }
  const auto count =
      std::count_if(results_.begin(), results_.end(), [](const Result& r) { return !missed(r).empty(); });
  std::printf("\n%zu cases, of which %td miss what is wanted of them%s\n", results_.size(), count, count ? ":" : "");
  for (const Result& r : results_) {
    if (!missed(r).empty()) print(r);
  }
}

}  // namespace binet::kernels::elementwise::bench
