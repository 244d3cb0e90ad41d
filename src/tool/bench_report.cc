#include "tool/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tool/printable.h"

namespace binet::tool {
namespace {

/// With three digits that mean something.
std::string digits(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}", value, value >= 10 ? 1 : 2);
}

std::string microseconds(double us) {
  if (us >= 1e6) return digits(us * 1e-6) + " s";
  if (us >= 1e3) return digits(us * 1e-3) + " ms";
  return us >= 1 ? digits(us) + " us" : fmt::format("{:.0f} ns", us * 1e3);
}

bool computes_in_f64(ElementType type) {
  return type == ElementType::f64 || type == ElementType::i64 || type == ElementType::u64;
}

/// The operations that the machine does at most for a step, by the kernel that computes it.
double rate_for(const StepDescription& step, const MachinePeak& peak) {
  const bool is_matrix_product = step.kernel.rfind("gemm", 0) == 0;
  double on_matrix_registers = 0;
  if (step.type == ElementType::bf16) on_matrix_registers = peak.bf16_matrix_operations_per_second;
  if (step.type == ElementType::i32 || step.type == ElementType::u32) {
    on_matrix_registers = peak.i32_matrix_operations_per_second;
  }
  if (step.type == ElementType::i64 || step.type == ElementType::u64) {
    on_matrix_registers = peak.i64_matrix_operations_per_second;
  }
  if (is_matrix_product && on_matrix_registers > 0) return on_matrix_registers;
  return computes_in_f64(step.type) ? peak.f64_operations_per_second : peak.f32_operations_per_second;
}

/// The limit that the machine sets to a step: its multiply-adds, or the memory; and the share of it that is reached.
std::string share_of_peak(const StepDescription& step, double seconds, const MachinePeak& peak) {
  const double computing = step.operations / rate_for(step, peak);
  const double moving = step.bytes / peak.bytes_per_second;
  if (seconds <= 0 || std::max(computing, moving) <= 0) return "-";
  return fmt::format("{:.0f} % of {}", 100 * std::max(computing, moving) / seconds,
                     computing > moving ? "compute" : "memory");
}

/// The widths that columns need.
std::vector<std::size_t> widths_of(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  return widths;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<std::size_t> widths = widths_of(rows);
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
}

}  // namespace

double Measurement::percentile(double percent) const {
  const auto last = static_cast<double>(latencies_us.size() - 1);
  return latencies_us[static_cast<std::size_t>(std::ceil(last * percent / 100))];
}

void print_text(const Measurement& m) {
  fmt::print("{}: {} runs on {} {}\n", printable(m.model), m.iterations, m.threads,
             m.threads == 1 ? "thread" : "threads");
  fmt::print("latency    min {}, p50 {}, p90 {}, p99 {}\n", microseconds(m.percentile(0)),
             microseconds(m.percentile(50)), microseconds(m.percentile(90)), microseconds(m.percentile(99)));
  fmt::print("load       {}\n", microseconds(m.load_us));
  fmt::print("first run  {}\n", microseconds(m.first_run_us));
  fmt::print("memory     {} MiB at the peak\n", digits(m.peak_rss_bytes / (1 << 20)));
  fmt::print("rate       {} GFLOP/s, {} GB/s\n", digits(m.per_second(m.operations) * 1e-9),
             digits(m.per_second(m.bytes) * 1e-9));
}

void print_json(const Measurement& m) {
  const nlohmann::ordered_json page = {
      {"model", m.model},
      {"threads", m.threads},
      {"iterations", m.iterations},
      {"latency_us",
       {{"min", m.percentile(0)}, {"p50", m.percentile(50)}, {"p90", m.percentile(90)}, {"p99", m.percentile(99)}}},
      {"load_us", m.load_us},
      {"first_run_us", m.first_run_us},
      {"peak_rss_bytes", static_cast<std::int64_t>(m.peak_rss_bytes)},
      {"gflops", m.per_second(m.operations) * 1e-9},
      {"gbytes_per_s", m.per_second(m.bytes) * 1e-9}};
  // A file's name may be any bytes; JSON is UTF-8.
  fmt::print("{}\n", page.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_profile(const std::vector<StepDescription>& steps, const std::vector<double>& nanoseconds,
                   const MachinePeak& peak) {
  const double total = std::accumulate(nanoseconds.begin(), nanoseconds.end(), 0.0);
  std::vector<std::vector<std::string>> rows = {
      {"node", "operator", "inputs", "output", "kernel", "time", "share", "GFLOP/s", "GB/s", "of the peak"}};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepDescription& step = steps[i];
    const double seconds = nanoseconds[i] * 1e-9;
    std::vector<std::string> inputs = step.inputs;
    while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
    rows.push_back({step.name.empty() ? fmt::format("{}", i) : printable(step.name), step.operation,
                    fmt::format("{}", fmt::join(inputs, " ")), step.output, step.kernel,
                    microseconds(nanoseconds[i] * 1e-3), fmt::format("{:.1f} %", 100 * nanoseconds[i] / total),
                    digits(step.operations / seconds * 1e-9), digits(step.bytes / seconds * 1e-9),
                    share_of_peak(step, seconds, peak)});
  }
  fmt::print("\n");
  print_table(rows);
  fmt::print("\npeak, measured now: {} GFLOP/s f32, {} GFLOP/s f64, {} GB/s read from memory (a cache may give more)\n",
             digits(peak.f32_operations_per_second * 1e-9), digits(peak.f64_operations_per_second * 1e-9),
             digits(peak.bytes_per_second * 1e-9));
  if (peak.bf16_matrix_operations_per_second == 0) return;
  fmt::print("on matrix registers: {} GFLOP/s bf16, {} GOP/s of 32-bit and {} of 64-bit integers\n",
             digits(peak.bf16_matrix_operations_per_second * 1e-9),
             digits(peak.i32_matrix_operations_per_second * 1e-9),
             digits(peak.i64_matrix_operations_per_second * 1e-9));
}

}  // namespace binet::tool
