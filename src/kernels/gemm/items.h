// Room: kernels. Items of a product, handed to workers one after another.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

/// The threads among which a product should be shared.
[[nodiscard]] std::int64_t useful_workers(const Problem& problem, int threads) noexcept;

/// Calls compute(item, worker) for each item of the schedule.
template <class Compute>
void run_items(const Schedule& schedule, const ThreadPool& pool, const Compute& compute) {
  if (schedule.workers == 1) {
    for (std::int64_t item = 0; item < schedule.items; ++item) compute(item, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  pool.run(schedule.workers, [&](std::int64_t worker) {
    for (std::int64_t item = next++; item < schedule.items; item = next++) compute(item, worker);
  });
}

}  // namespace binet::kernels::gemm
