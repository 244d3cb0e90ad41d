#include "kernels/gemm/bench/sessions_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "binet/session.h"
#include "formats/onnx/model_builder_testing.h"

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

void compare_model(std::int64_t batch, std::int64_t width, const Effort& effort) {
  const Model model = make_model(batch, width);
  std::vector<Session> sessions;
  std::vector<NamedTensors> inputs;
  for (int i = 0; i < kSessions; ++i) {
    sessions.emplace_back(model);
    inputs.push_back({{"x0", Tensor::from({batch, width}, std::span<const float>(std::vector<float>(
                                                              static_cast<std::size_t>(batch * width), 1.0f)))}});
  }
  const auto run_once = [&](std::size_t i) { static_cast<void>(sessions[i].run(inputs[i])); };
  for (std::size_t i = 0; i < kSessions; ++i) run_once(i);
  // As much work as takes a tenth of a second: starting threads, and who comes last, make no difference then.
  constexpr double kSeconds = 0.1;
  const auto all_threads = static_cast<int>(std::thread::hardware_concurrency());
  const double once = estimate([&] { run_once(0); }, 2);
  const int runs = std::max(1, static_cast<int>(kSeconds / once / kSessions));

  Contestant one_after_another = {[&] {
                                    for (int i = 0; i < kSessions * runs; ++i) run_once(0);
                                  },
                                  kSeconds};
  Contestant at_once = {[&] {
                          std::vector<std::jthread> threads;
                          for (std::size_t i = 0; i < kSessions; ++i) {
                            threads.emplace_back([&, i] {
                              for (int run = 0; run < runs; ++run) run_once(i);
                            });
                          }
                        },
                        kSeconds};
  // By the clock on the wall, even where there is one CPU.
  const bool is_quiet = measure({&one_after_another, &at_once}, std::max(2, all_threads), effort);
  const double gain = one_after_another.seconds / at_once.seconds - 1;
  fmt::print("{:4} x {:<4} {:2} CPUs: {:9.1f} runs/s one after another, {:9.1f} in {} sessions at once: {:+.1f} %{}\n",
             batch, width, all_threads, kSessions * runs / one_after_another.seconds,
             kSessions * runs / at_once.seconds, kSessions, 100 * gain,
             is_quiet ? "" : "  disturbed by other programs");
}

}  // namespace

void compare_sessions(const Effort& effort) {
  fmt::print("\nThroughput of {} sessions, each with all CPUs, on as many threads; {} layers of batch x width:\n",
             kSessions, kLayers);
  compare_model(1, 512, effort);
  compare_model(8, 1024, effort);
  compare_model(64, 768, effort);
  compare_model(512, 512, effort);
}

}  // namespace binet::kernels::gemm::bench
