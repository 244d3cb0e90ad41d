// binet bench: how long a model takes to load and to run.
//
// Inputs are random; inputs and outputs are bound once, outside the timed loop.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>

#include "binet/error.h"
#include "tool/bench_report.h"
#include "tool/chrome_trace.h"
#include "tool/commands.h"
#include "tool/data_set.h"
#include "tool/validators.h"

namespace binet::tool {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string model;
  int threads = 0;
  double min_time = 0.5;
  std::uint64_t random_seed = 1;
  std::vector<std::string> extents;
  bool json = false;
  bool profile = false;
  std::string trace;
};

double microseconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

/// The most memory that the process has held at any time.
double peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

/// Reading the clock takes some ten nanoseconds: runs that are shorter than this are timed several at once.
constexpr double kShortestTimedUs = 2;

/// Runs for at least `min_time` seconds; the sorted times of single runs.
void time_runs(Binding& binding, double min_time, Measurement& measurement) {
  const auto time_of = [&](std::int64_t runs) {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < runs; ++i) binding.run();
    return microseconds_between(begin, Clock::now()) / static_cast<double>(runs);
  };
  constexpr int kWarmingRuns = 3;
  double quickest = time_of(1);
  for (int i = 0; i < kWarmingRuns; ++i) quickest = std::min(quickest, time_of(1));
  const auto at_once = static_cast<std::int64_t>(std::max(1.0, std::ceil(kShortestTimedUs / std::max(quickest, 1e-3))));
  const auto end = Clock::now() + std::chrono::duration<double>(min_time);
  do {
    measurement.latencies_us.push_back(time_of(at_once));
    measurement.iterations += at_once;
  } while (Clock::now() < end);
  std::sort(measurement.latencies_us.begin(), measurement.latencies_us.end());
}

/// The times of the steps in each of several runs.
std::vector<std::vector<std::int64_t>> time_steps(Binding& binding, std::size_t steps, double run_us) {
  // Enough to find the middle, but no more than a second or two.
  const auto runs = static_cast<std::size_t>(std::clamp(1e6 / std::max(run_us, 1.0), 3.0, 101.0));
  std::vector<std::vector<std::int64_t>> times(runs, std::vector<std::int64_t>(steps));
  for (auto& run : times) binding.run(run);
  return times;
}

std::vector<double> medians(const std::vector<std::vector<std::int64_t>>& times) {
  std::vector<double> middle(times.front().size());
  std::vector<std::int64_t> of_step(times.size());
  for (std::size_t step = 0; step < middle.size(); ++step) {
    for (std::size_t run = 0; run < times.size(); ++run) of_step[run] = times[run][step];
    std::nth_element(of_step.begin(), of_step.begin() + static_cast<std::ptrdiff_t>(of_step.size() / 2), of_step.end());
    middle[step] = static_cast<double>(of_step[of_step.size() / 2]);
  }
  return middle;
}

void write_trace(const Options& options, const Measurement& measurement, const std::vector<StepDescription>& steps,
                 const std::vector<std::vector<std::int64_t>>& times) {
  // A few runs show what there is to see; a bar for each step of a hundred would only make the file large.
  constexpr std::size_t kRuns = 5;
  std::vector<TraceEvent> events = {{"load", 0, measurement.load_us},
                                    {"first run", measurement.load_us, measurement.first_run_us}};
  double now = measurement.load_us + measurement.first_run_us;
  for (std::size_t run = 0; run < std::min(kRuns, times.size()); ++run) {
    const double length =
        1e-3 * static_cast<double>(std::accumulate(times[run].begin(), times[run].end(), std::int64_t{0}));
    events.push_back({"run", now, length});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double step_us = 1e-3 * static_cast<double>(times[run][i]);
      events.push_back({steps[i].operation, now, step_us, &steps[i]});
      now += step_us;
    }
  }
  write_chrome_trace(options.trace, options.model, events);
}

int bench(const Options& options) {
  Measurement m;
  m.model = options.model;
  const auto begin = Clock::now();
  const Model model = load_model(options.model);
  const Session session(model, {.threads = options.threads});
  const auto loaded = Clock::now();
  m.load_us = microseconds_between(begin, loaded);
  m.threads = session.threads();

  NamedTensors inputs;
  add_random_inputs(model, cut_extents(options.extents), options.random_seed, inputs);
  const auto first = Clock::now();
  static_cast<void>(session.run(inputs));
  m.first_run_us = microseconds_between(first, Clock::now());

  Binding binding = session.bind(inputs);
  const std::vector<StepDescription> steps = binding.steps();
  for (const StepDescription& step : steps) {
    m.operations += step.operations;
    m.bytes += step.bytes;
  }
  binding.run();
  m.peak_rss_bytes = peak_rss_bytes();  // now: the list of times is not the model's memory
  time_runs(binding, options.min_time, m);

  options.json ? print_json(m) : print_text(m);
  if (!options.profile && options.trace.empty()) return kDone;
  const auto times = time_steps(binding, steps.size(), m.percentile(50));
  if (options.profile) print_profile(steps, medians(times), measure_peak(m.threads));
  if (!options.trace.empty()) write_trace(options, m, steps, times);
  return kDone;
}

CLI::Validator is_seconds() {
  const auto check = [](std::string& text) {
    double seconds = 0;
    const bool good = CLI::detail::lexical_cast(text, seconds) && seconds >= 0 && seconds <= 86400;
    return good ? std::string() : fmt::format("'{}' must be 0 to 86400 seconds", text);
  };
  return {check, "", "seconds"};
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Measure how long a model takes to load and to run");
  command->add_option("MODEL", options->model, "The model file: .onnx, or OpenVINO's .xml with its .bin beside it")
      ->required();
  command->add_option("--threads", options->threads, "Threads to use; 0: BINET_THREADS, or one for each CPU")
      ->type_name("N")
      ->check(is_thread_count());
  command->add_option("--min-time", options->min_time, "Run for at least this long; 0.5 by default")
      ->type_name("SECONDS")
      ->check(is_seconds());
  command->add_option("--random", options->random_seed, "Seed of the inputs' values")->type_name("SEED");
  command->add_option("--dim", options->extents, "A named extent")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->check(is_extent());
  CLI::Option* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--profile", options->profile, "Times of the single nodes, and what share of the peak they reach")
      ->excludes(json);
  command->add_option("--trace", options->trace, "Write a trace for chrome://tracing or ui.perfetto.dev")
      ->type_name("FILE");
  command->callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace binet::tool
