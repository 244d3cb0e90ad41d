// Room: runtime. What the machine is and can do, for people and tools.
#include "binet/machine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

#include "base/aligned_buffer.h"
#include "base/out_of_memory.h"
#include "base/target.h"
#include "kernels/gemm/kernels.h"
#include "kernels/peak/peak.h"
#include "threads/thread_pool.h"

namespace binet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The best of several rates, each taken while all threads work: others on the machine can only lower it.
template <class Work>
double best_rate(const ThreadPool& pool, double amount, const Work& work) {
  constexpr int kTries = 8;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto begin = Clock::now();
    pool.run(pool.threads(), work);
    best = std::max(best, amount * pool.threads() / seconds_since(begin));
  }
  return best;
}

double measure_operations(ElementType type, const ThreadPool& pool, const Target& target) {
  // About five milliseconds: longer than the threads take to begin, shorter than a time slice.
  constexpr std::int64_t kRounds = 1'000'000;
  const double operations = kernels::peak::multiply_add(type, kRounds, target);
  return best_rate(pool, operations, [&](std::int64_t) { kernels::peak::multiply_add(type, kRounds, target); });
}

double measure_matrix_registers(ElementType type, const ThreadPool& pool, const Target& target) {
  constexpr std::int64_t kRounds = 100'000;
  const double operations = kernels::peak::multiply_on_matrix_registers(type, kRounds, target);
  if (operations == 0) return 0;
  return best_rate(pool, operations,
                   [&](std::int64_t) { kernels::peak::multiply_on_matrix_registers(type, kRounds, target); });
}

double measure_memory(const ThreadPool& pool, const Target& target) {
  // Beyond what caches hold.
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  const auto threads = static_cast<std::size_t>(pool.threads());
  const std::size_t part = kBytes / threads / kCacheLine * kCacheLine;
  const AlignedBuffer memory(part * threads);
  std::memset(memory.data(), 1, memory.size());
  return best_rate(pool, static_cast<double>(part), [&](std::int64_t i) {
    kernels::peak::read({memory.data() + static_cast<std::size_t>(i) * part, part}, target);
  });
}

std::string elementwise_arithmetic(ElementType type) {
  if (type == ElementType::f16 || type == ElementType::bf16) return "as f32, rounded once";
  return is_float(type) ? "in the type" : "in the type, modulo 2^n";
}

KernelDescription elementwise_kernel(ElementType type, const Target& target) {
  const Target& used = type == ElementType::f16 ? target_for_f16_conversions(target) : target;
  return {"elementwise", type, std::string(used.name), elementwise_arithmetic(type)};
}

}  // namespace

std::vector<TargetDescription> describe_targets() {
  return guard_memory([] {
    const Target& used = default_target();
    const auto supported = supported_targets();
    std::vector<TargetDescription> targets;
    for (const Target& target : compiled_targets()) {
      const bool is_supported = std::find(supported.begin(), supported.end(), target) != supported.end();
      targets.push_back({std::string(target.name), std::string(target.needs), is_supported, target == used});
    }
    return targets;
  });
}

std::vector<KernelDescription> describe_kernels() {
  return guard_memory([] {
    const Target& target = default_target();
    const std::string name(target.name);
    std::vector<KernelDescription> kernels;
    for (std::size_t i = 0; i < kElementTypeCount; ++i) {
      const auto type = static_cast<ElementType>(i);
      if (!is_numeric(type)) continue;
      const kernels::gemm::Kernels* gemm = kernels::gemm::find_kernels(type, target);
      if (gemm != nullptr) kernels.push_back({"matrix product", type, name, kernels::gemm::describe(*gemm)});
    }
    for (std::size_t i = 0; i < kElementTypeCount; ++i) {
      const auto type = static_cast<ElementType>(i);
      if (is_numeric(type)) kernels.push_back(elementwise_kernel(type, target));
    }
    return kernels;
  });
}

MachinePeak measure_peak(int threads) {
  return guard_memory([&] {
    const ThreadPool pool(threads);
    pool.start();
    const Target& target = default_target();
    return MachinePeak{measure_operations(ElementType::f32, pool, target),
                       measure_operations(ElementType::f64, pool, target),
                       measure_matrix_registers(ElementType::bf16, pool, target),
                       measure_matrix_registers(ElementType::i32, pool, target),
                       measure_matrix_registers(ElementType::i64, pool, target),
                       measure_memory(pool, target)};
  });
}

}  // namespace binet
