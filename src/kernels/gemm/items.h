// Room: kernels. Items of a product, handed to workers one after another.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/gemm/gemm.h"
#include "threads/thread_pool.h"

namespace binet::kernels::gemm {

struct Kernels;

/// Decides on how many of the threads a product is shared. `rate`: its multiply-adds in the time of one by vectors.
void choose_workers(const Problem& problem, const Kernels& kernels, int threads, Schedule& schedule,
                    std::int64_t rate = 1) noexcept;

/// Cuts Y into items of at most `block_rows` rows. All else in the schedule but the height of tiles has been decided.
void cut_items(const Problem& problem, const Kernels& kernels, std::int64_t block_rows, Schedule& schedule);

/// Calls compute(item, worker) for each item of the schedule.
template <class Compute>
void run_items(const Schedule& schedule, const ThreadPool& pool, const Compute& compute) {
  if (schedule.workers == 1) {
    for (std::int64_t item = 0; item < schedule.items; ++item) compute(item, 0);
    return;
  }
  // Each worker begins with an item of its own, and then takes the next one.
  std::atomic<std::int64_t> next{schedule.workers};
  const auto work = [&](std::int64_t worker) {
    for (std::int64_t item = worker; item < schedule.items; item = next++) {
      compute(item, worker);
      if (schedule.items <= schedule.workers) return;
    }
  };
  pool.run(schedule.workers, work, schedule.is_short ? Sleepers::spare : Sleepers::wake);
}

}  // namespace binet::kernels::gemm
