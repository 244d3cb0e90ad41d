// What a user feels of a session: loading, the first answer and its memory, single runs, several sessions at once.
#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/runtime_testing.h"

namespace binet {
namespace {

namespace fs = std::filesystem;
using onnx::testing::ModelBuilder;
using onnx::testing::raw_tensor;
using testing::floats;

/// A chain of matrix products with 400 MiB of weights in 2,000 nodes, written to a file that goes with the program.
class LargeModel {
 public:
  static constexpr int kNodes = 2000;
  static constexpr std::array<std::int64_t, 2> kSides = {256, 205};
  static constexpr double kWeightBytes = 4.0 * kNodes * kSides[0] * kSides[1];

  static const fs::path& path() {
    static const LargeModel model;
    return model.path_;
  }

 private:
  LargeModel() : path_(fs::temp_directory_path() / ("binet-bench-" + std::to_string(::getpid()) + ".onnx")) {
    // In a process of its own: the memory for writing must not count as memory of the sessions.
    const pid_t child = ::fork();
    if (child == 0) {
      write();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  ~LargeModel() { fs::remove(path_); }

  void write() const {
    std::vector<float> weights(static_cast<std::size_t>(kSides[0] * kSides[1]));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 13) * 0.01f - 0.06f;
    ModelBuilder model(13);
    model.input("x0", ElementType::f32, {1, kSides[0]});
    for (std::size_t i = 0; i < kNodes; ++i) {
      const std::string n = std::to_string(i);
      model.initializer(raw_tensor("w" + n, {kSides[i % 2], kSides[(i + 1) % 2]}, weights));
      model.node("Gemm", {"x" + n, "w" + n}, {"x" + std::to_string(i + 1)});
    }
    model.output("x" + std::to_string(kNodes), ElementType::f32, {1, kSides[0]});
    const std::string bytes = model.bytes();
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  fs::path path_;
};

/// Bytes that this process has at most held in memory.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

void BM_LoadLargeModel(benchmark::State& state) {
  const fs::path& path = LargeModel::path();
  for (auto _ : state) benchmark::DoNotOptimize(load_model(path));
}
BENCHMARK(BM_LoadLargeModel)->Unit(benchmark::kMillisecond);

struct FirstAnswer {
  double seconds = 0;
  double peak_bytes = 0;
};

FirstAnswer first_answer(int threads) {
  const NamedTensors inputs = {{"x0", Tensor::allocate(ElementType::f32, {1, LargeModel::kSides[0]})}};
  const auto begin = std::chrono::steady_clock::now();
  const Session session(load_model(LargeModel::path()), {.threads = threads});
  benchmark::DoNotOptimize(session.run(inputs));
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), peak_bytes()};
}

/// Each in a process of its own, as a user has it: no memory is there from the time before.
void BM_FirstAnswerOfLargeModel(benchmark::State& state) {
  static_cast<void>(LargeModel::path());
  double most = 0;
  for (auto _ : state) {
    std::array<int, 2> pipe{};
    if (::pipe(pipe.data()) != 0) return state.SkipWithError("no pipe");
    const pid_t child = ::fork();
    FirstAnswer answer;
    if (child == 0) {
      answer = first_answer(static_cast<int>(state.range(0)));
      const bool is_written = ::write(pipe[1], &answer, sizeof(answer)) == sizeof(answer);
      ::_exit(is_written ? 0 : 1);
    }
    if (::read(pipe[0], &answer, sizeof(answer)) != sizeof(answer)) return state.SkipWithError("no answer");
    ::waitpid(child, nullptr, 0);
    ::close(pipe[0]);
    ::close(pipe[1]);
    state.SetIterationTime(answer.seconds);
    most = std::max(most, answer.peak_bytes);
  }
  state.counters["peak_by_weights"] = most / LargeModel::kWeightBytes;
}
BENCHMARK(BM_FirstAnswerOfLargeModel)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

ModelBuilder small_gemm() {
  ModelBuilder model(13);
  model.input("A", ElementType::f32, {3, 5});
  model.initializer(raw_tensor<float>("B", {5, 4}, std::vector<float>(20, 0.5f)));
  model.node("Gemm", {"A", "B"}, {"Y"}).output("Y", ElementType::f32, {3, 4});
  return model;
}

void BM_LoadAndSessionOfOneNode(benchmark::State& state) {
  const fs::path path = fs::temp_directory_path() / ("binet-bench-one-" + std::to_string(::getpid()) + ".onnx");
  const std::string bytes = small_gemm().bytes();
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  for (auto _ : state) benchmark::DoNotOptimize(Session(load_model(path)));
  fs::remove(path);
}
BENCHMARK(BM_LoadAndSessionOfOneNode);

void BM_BoundSmallGemm(benchmark::State& state) {
  const Session session(testing::load(small_gemm()));
  Binding binding = session.bind({{"A", floats({3, 5}, std::vector<float>(15, 1))}});
  for (auto _ : state) binding.run();
}
BENCHMARK(BM_BoundSmallGemm);

void BM_UnboundSmallGemm(benchmark::State& state) {
  const Session session(testing::load(small_gemm()));
  const NamedTensors inputs = {{"A", floats({3, 5}, std::vector<float>(15, 1))}};
  for (auto _ : state) benchmark::DoNotOptimize(session.run(inputs));
}
BENCHMARK(BM_UnboundSmallGemm);

/// The time of a node in a chain of 100 that have next to nothing to compute.
void BM_BoundChainNode(benchmark::State& state) {
  constexpr int kNodes = 100;
  ModelBuilder model(14);
  model.input("x0", ElementType::f32, {4}).input("s", ElementType::f32, {4});
  for (int i = 0; i < kNodes; ++i) model.node("Mul", {"x" + std::to_string(i), "s"}, {"x" + std::to_string(i + 1)});
  model.output("x100", ElementType::f32, {4});
  const Session session(testing::load(model));
  const Tensor ones = floats({4}, {1, 1, 1, 1});
  Binding binding = session.bind({{"x0", ones}, {"s", ones}});
  for (auto _ : state) binding.run();
  state.counters["node"] =
      benchmark::Counter(kNodes, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(BM_BoundChainNode);

/// Layers of 512 x 512 for 256 rows, in as many sessions as threads of the caller, each session with all CPUs: the
/// products per second of them all should be those of a single session.
void BM_SessionsAtOnce(benchmark::State& state) {
  constexpr std::int64_t kSide = 512;
  constexpr std::int64_t kRows = 256;
  constexpr int kLayers = 4;
  const auto sessions = static_cast<std::size_t>(state.range(0));
  ModelBuilder builder(13);
  builder.input("x0", ElementType::f32, {kRows, kSide});
  const std::vector<float> weights(kSide * kSide, 0.01f);
  for (int i = 0; i < kLayers; ++i) {
    const std::string n = std::to_string(i);
    builder.initializer(raw_tensor("w" + n, {kSide, kSide}, weights));
    builder.node("Gemm", {"x" + n, "w" + n}, {"x" + std::to_string(i + 1)});
  }
  builder.output("x4", ElementType::f32, {kRows, kSide});
  const Model model = testing::load(builder);
  constexpr int kRuns = 240;  // in all, shared among the sessions
  std::vector<Binding> bindings;
  for (std::size_t i = 0; i < sessions; ++i) {
    bindings.push_back(Session(model).bind({{"x0", Tensor::allocate(ElementType::f32, {kRows, kSide})}}));
  }
  for (auto _ : state) {
    std::vector<std::thread> callers;
    for (Binding& binding : bindings) {
      callers.emplace_back([&] {
        for (std::size_t run = 0; run < kRuns / sessions; ++run) binding.run();
      });
    }
    for (std::thread& caller : callers) caller.join();
  }
  state.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * kRows * kSide * kSide * kLayers * kRuns, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_SessionsAtOnce)->ArgName("sessions")->Arg(1)->Arg(2)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace binet

BENCHMARK_MAIN();
