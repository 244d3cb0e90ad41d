#include "kernels/gemm/bench/sessions_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "binet/session.h"
#include "formats/onnx/model_builder_testing.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm::bench {
namespace {

constexpr int kSessions = 4;
constexpr std::int64_t kLayers = 3;

/// Fully connected layers, all of one width.
Model make_model(std::int64_t batch, std::int64_t width) {
  using namespace onnx::testing;
  const auto values = static_cast<std::size_t>(width * width);
  ModelBuilder builder(13);
  builder.input("x0", ElementType::f32, {batch, width});
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    const std::string number = std::to_string(layer), next = std::to_string(layer + 1);
    builder.initializer(raw_tensor("w" + number, {width, width}, std::vector<float>(values, 0.01f)));
    builder.node("Gemm", {"x" + number, "w" + number}, {"x" + next});
  }
  builder.output("x" + std::to_string(kLayers), ElementType::f32, {batch, width});
  return load_model(as_bytes(builder.bytes()));
}

/// Sessions of one model, each with an input of its own.
class Sessions {
 public:
  Sessions(const Model& model, std::int64_t batch, std::int64_t width, int count, int threads_of_each) {
    const std::vector<float> ones(static_cast<std::size_t>(batch * width), 1.0f);
    for (int i = 0; i < count; ++i) {
      sessions_.emplace_back(model, SessionOptions{.threads = threads_of_each});
      inputs_.push_back({{"x0", Tensor::from({batch, width}, std::span<const float>(ones))}});
      run_one(static_cast<std::size_t>(i), 1);
    }
  }

  void run_one(std::size_t session, int runs) const {
    for (int run = 0; run < runs; ++run) static_cast<void>(sessions_[session].run(inputs_[session]));
  }

  /// All at once, so many runs together, each session in a thread of its own.
  void run_all(int runs) const {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      threads.emplace_back([this, i, runs] { run_one(i, runs / static_cast<int>(sessions_.size())); });
    }
  }

 private:
  std::vector<Session> sessions_;
  std::vector<NamedTensors> inputs_;
};

void compare_model(std::int64_t batch, std::int64_t width, const Effort& effort) {
  const int cpus = available_cpus();  // as sessions count them
  const Model model = make_model(batch, width);
  const Sessions sessions(model, batch, width, kSessions, cpus);
  const Sessions alone(model, batch, width, cpus, 1);
  // As much work as takes a tenth of a second: starting threads, and who comes last, make no difference then.
  constexpr double kSeconds = 0.1;
  const double once = estimate([&] { sessions.run_one(0, 1); }, 2);
  const int runs = std::max(1, static_cast<int>(kSeconds / once / kSessions / cpus)) * kSessions * cpus;

  Contestant one_after_another = {[&] { sessions.run_one(0, runs); }, kSeconds};
  Contestant at_once = {[&] { sessions.run_all(runs); }, kSeconds};
  Contestant one_thread_each = {[&] { alone.run_all(runs); }, kSeconds};
  // By the clock on the wall, even where there is one CPU.
  const bool is_quiet = measure({&one_after_another, &at_once, &one_thread_each}, std::max(2, cpus), effort);
  const double gain = one_after_another.seconds / at_once.seconds - 1;
  fmt::print(
      "{:4} x {:<4} {:2} CPUs: {:9.1f} runs/s one after another, {:9.1f} in {} sessions at once: {:+.1f} %; "
      "{:9.1f} in {} of one thread each{}\n",
      batch, width, cpus, runs / one_after_another.seconds, runs / at_once.seconds, kSessions, 100 * gain,
      runs / one_thread_each.seconds, cpus, is_quiet ? "" : "  disturbed by other programs");
}

}  // namespace

void compare_sessions(const Effort& effort) {
  fmt::print(
      "\nThroughput of {} sessions, each with all CPUs, on as many threads; {} layers of batch x width. Sessions of\n"
      "one thread each, as many as CPUs, have nothing to share but weights that all of their caches must hold:\n",
      kSessions, kLayers);
  compare_model(1, 512, effort);
  compare_model(8, 1024, effort);
  compare_model(64, 768, effort);
  compare_model(512, 512, effort);
}

}  // namespace binet::kernels::gemm::bench
