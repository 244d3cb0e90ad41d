// Benchmark: the matrix product beside OpenBLAS and the machine's multiply-add peak, in turns within one run, so that a
// change of clock or load meets all three.
//
//   gemm_bench --benchmark_filter='f32/1024x' --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// Counters: gflops; of_peak, the share of the peak of as many cores; to_blas, the time of OpenBLAS over ours (above 1
// we are faster). Names: type/MxNxK, then what is special: at, bt transposed operands, packed B, threads. BINET_TARGET
// works.
#include <benchmark/benchmark.h>
#include <hwy/highway.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_bench_peak.h"

#ifdef BINET_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace binet::kernels::gemm {
namespace {

struct Shape {
  std::int64_t m, n, k;
  bool trans_a = false, trans_b = false, packed = false;
  int threads = 1;
};

double now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

AlignedBuffer random_elements(ElementType type, std::int64_t count) {
  AlignedBuffer buffer(static_cast<std::size_t>(count) * byte_size(type) + kCacheLine);
  std::mt19937_64 random(static_cast<std::uint64_t>(count));
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  const auto put = [&](std::int64_t i, auto value) {
    std::memcpy(buffer.data() + static_cast<std::size_t>(i) * sizeof(value), &value, sizeof(value));
  };
  for (std::int64_t i = 0; i < count; ++i) {
    if (type == ElementType::f16) put(i, Float16::from_float(uniform(random)));
    if (type == ElementType::bf16) put(i, BFloat16::from_float(uniform(random)));
    if (type == ElementType::f32) put(i, uniform(random));
    if (type == ElementType::f64) put(i, double{uniform(random)});
    if (byte_size(type) == 4 && is_integer(type)) put(i, static_cast<std::uint32_t>(random()));
    if (byte_size(type) == 8 && is_integer(type)) put(i, random());
  }
  return buffer;
}

Problem problem_of(ElementType type, const Shape& shape) {
  Problem p;
  p.type = type;
  p.m = shape.m;
  p.n = shape.n;
  p.k = shape.k;
  p.a_row_step = shape.trans_a ? 1 : shape.k;
  p.a_column_step = shape.trans_a ? shape.m : 1;
  p.b_row_step = shape.trans_b ? 1 : shape.n;
  p.b_column_step = shape.trans_b ? shape.k : 1;
  return p;
}

/// OpenBLAS for the same product; empty where it has none.
std::function<void()> peer(ElementType type, const Shape& s, const std::byte* a, const std::byte* b, std::byte* y) {
#ifdef BINET_HAS_OPENBLAS
  openblas_set_num_threads(s.threads);
  const auto trans_a = s.trans_a ? CblasTrans : CblasNoTrans;
  const auto trans_b = s.trans_b ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<blasint>(s.m), n = static_cast<blasint>(s.n), k = static_cast<blasint>(s.k);
  const blasint lda = s.trans_a ? m : k, ldb = s.trans_b ? k : n;
  if (type == ElementType::f32) {
    return [=] {
      cblas_sgemm(CblasRowMajor, trans_a, trans_b, m, n, k, 1.0f, reinterpret_cast<const float*>(a), lda,
                  reinterpret_cast<const float*>(b), ldb, 0.0f, reinterpret_cast<float*>(y), n);
    };
  }
  if (type == ElementType::f64) {
    return [=] {
      cblas_dgemm(CblasRowMajor, trans_a, trans_b, m, n, k, 1.0, reinterpret_cast<const double*>(a), lda,
                  reinterpret_cast<const double*>(b), ldb, 0.0, reinterpret_cast<double*>(y), n);
    };
  }
#else
  (void)type, (void)s, (void)a, (void)b, (void)y;
#endif
  return {};
}

void gemm(benchmark::State& state, ElementType type, const Shape& shape) {
  const Target& target = default_target();
  const ThreadPool pool(shape.threads);
  const Problem p = problem_of(type, shape);
  const AlignedBuffer a = random_elements(type, p.m * p.k);
  const AlignedBuffer b = random_elements(type, p.k * p.n);
  const AlignedBuffer y(static_cast<std::size_t>(p.m * p.n) * byte_size(type));
  const AlignedBuffer peer_y(y.size());
  const Plan plan = make_plan(p, target, shape.threads, shape.packed);
  const AlignedBuffer workspace(plan.workspace_bytes);
  const AlignedBuffer packed(shape.packed ? packed_b_bytes(type, p.n, p.k, target) : 0);
  if (shape.packed) pack_b(p, target, b.data(), packed.data(), pool);

  const std::function<void()> ours = [&] {
    run(plan, a.data(), shape.packed ? packed.data() : b.data(), nullptr, y.data(), workspace.data(), pool);
  };
  const std::function<void()> theirs = peer(type, shape, a.data(), b.data(), peer_y.data());
  const auto peak = type == ElementType::f64 ? &multiply_add_f64 : &multiply_add_f32;

  // One thread is charged for what it ran itself, so that other programs disturb less.
  const clockid_t clock = shape.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const auto seconds = [&](const auto& work) {
    const double begin = now(clock);
    work();
    return now(clock) - begin;
  };

  ours();
  // A turn lasts at least half a millisecond, so that neither the clock nor the caches of the others matter.
  const auto repeats = static_cast<int>(std::clamp(5e-4 / std::max(seconds(ours), 1e-9), 1.0, 1e5));
  // With several threads each library first gets its own workers awake and onto a core of their own: the kernel may
  // leave a woken thread for several time slices on the core of the one that woke it.
  const double warm_up = shape.threads > 1 ? 0.03 : 0;
  const auto turn = [&](const std::function<void()>& work) {
    const double begin = now(CLOCK_MONOTONIC);
    do work();
    while (now(CLOCK_MONOTONIC) - begin < warm_up);
    return seconds([&] {
             for (int i = 0; i < repeats; ++i) work();
           }) /
           repeats;
  };
  std::vector<double> our_times, their_times, peak_rates;
  for (auto _ : state) {
    // Until the workers of the other library sleep.
    if (theirs && shape.threads > 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    our_times.push_back(turn(ours));
    state.SetIterationTime(our_times.back());
    double operations = 0;
    const double time = seconds([&] { operations = peak(10000, target); });
    peak_rates.push_back(operations / time);
    if (theirs) their_times.push_back(turn(theirs));
  }
  const double rate =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / median(our_times);
  state.counters["gflops"] = rate / 1e9;
  state.counters["of_peak"] = rate / (median(peak_rates) * shape.threads);
  if (theirs) state.counters["to_blas"] = median(their_times) / median(our_times);
}

void add(ElementType type, const Shape& s) {
  std::string name =
      std::string(to_string(type)) + "/" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k);
  if (s.trans_a) name += "/at";
  if (s.trans_b) name += "/bt";
  if (s.packed) name += "/packed";
  name += "/threads:" + std::to_string(s.threads);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { gemm(state, type, s); })
      ->UseManualTime()
      ->Iterations(25);
}

void add_all() {
  std::vector<Shape> shapes;
  for (const std::int64_t size : {16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048}) {
    shapes.push_back({size, size, size});
  }
  const Shape others[] = {{3, 7, 5},        {4, 16, 5},       {4, 7, 5},       {1, 7, 5},       {12, 32, 8},
                          {37, 71, 53},     {127, 131, 129},  {1, 1024, 1024}, {8, 1024, 1024}, {16, 1024, 4096},
                          {64, 768, 3072},  {100000, 16, 16}, {4096, 64, 64},  {1024, 1, 1024}, {1024, 4, 1024},
                          {16, 16, 100000}, {1024, 1024, 16}, {1, 1, 100000},  {2048, 12, 512}, {2, 512, 512},
                          {24, 2048, 2048}, {200, 200, 5000}};
  shapes.insert(shapes.end(), std::begin(others), std::end(others));
  for (const Shape& shape : shapes) {
    for (const ElementType type : {ElementType::f32, ElementType::f64}) {
      for (Shape s = shape; s.threads <= 2; ++s.threads) add(type, s);
    }
    for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::i32, ElementType::i64}) {
      add(type, shape);
    }
  }
  for (Shape s : {Shape{1, 1024, 1024}, {8, 1024, 1024}, {64, 768, 3072}, {512, 512, 512}, {1024, 1024, 1024}}) {
    for (const int transposes : {1, 2, 3}) {
      s.trans_a = (transposes & 1) != 0;
      s.trans_b = (transposes & 2) != 0;
      add(ElementType::f32, s);
    }
    s.trans_a = s.trans_b = false;
    s.packed = true;
    for (s.threads = 1; s.threads <= 2; ++s.threads) add(ElementType::f32, s);
    s.threads = 1;
    add(ElementType::bf16, s);
  }
}

}  // namespace
}  // namespace binet::kernels::gemm

#ifdef BINET_HAS_OPENBLAS
constexpr char kAvx512CoreType[] = "SkylakeX";
#endif

int main(int argc, char** argv) {
#ifdef BINET_HAS_OPENBLAS
  // OpenBLAS chooses its kernels before main() begins, and old ones on a CPU it does not know or where the environment
  // says so: name those for AVX-512, leave the cache's size to OpenBLAS, and begin anew.
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  const bool is_named = core_type != nullptr && std::string_view(core_type) == kAvx512CoreType;
  if (!is_named && (hwy::SupportedTargets() & HWY_AVX3) != 0) {
    ::setenv("OPENBLAS_CORETYPE", kAvx512CoreType, 1);
    ::unsetenv("OPENBLAS_L2_SIZE");
    // Its workers spin for a tenth of a second after their work, on the core that ours need next; 2^20 ticks will do.
    ::setenv("OPENBLAS_THREAD_TIMEOUT", "20", 1);
    ::execv("/proc/self/exe", argv);
  }
  benchmark::AddCustomContext("openblas", openblas_get_corename());
#endif
  benchmark::AddCustomContext("target", std::string(binet::default_target().name));
  binet::kernels::gemm::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
