// The binet program: what `binet bench` found, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binet/machine.h"
#include "binet/session.h"

namespace binet::tool {

struct Measurement {
  std::string model;
  int threads = 0;
  std::int64_t iterations = 0;
  std::vector<double> latencies_us;  ///< sorted
  double load_us = 0;                ///< load_model and the session
  double first_run_us = 0;
  double peak_rss_bytes = 0;
  double operations = 0;  ///< of one run
  double bytes = 0;       ///< that its steps read and write

  [[nodiscard]] double percentile(double percent) const;
  [[nodiscard]] double per_second(double amount) const { return amount / (percentile(50) * 1e-6); }
};

void print_text(const Measurement& measurement);
void print_json(const Measurement& measurement);

/// A table of the steps with their times, `nanoseconds` each, and the share of the machine's peak that they reach.
void print_profile(const std::vector<StepDescription>& steps, const std::vector<double>& nanoseconds,
                   const MachinePeak& peak);

}  // namespace binet::tool
