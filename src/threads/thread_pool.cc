#include "threads/thread_pool.h"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <optional>

namespace binet {

struct ThreadPool::Arena {
  explicit Arena(int threads) : arena(threads) {
    // More threads than CPUs have to be allowed first. The least of all limits in the process counts, so one is set
    // only where it raises the default: a small pool must not slow down others.
    if (threads > tbb::info::default_concurrency()) {
      limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    }
  }
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

ThreadPool::ThreadPool(int threads) : threads_(threads > 0 ? threads : available_cpus()) {
  if (threads_ > 1) arena_ = std::make_unique<Arena>(threads_);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(std::int64_t tasks, TaskRef task) const {
  if (arena_ == nullptr || tasks <= 1) {
    for (std::int64_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(
        std::int64_t{0}, tasks, [&](std::int64_t i) { task(i); }, tbb::simple_partitioner());
  });
}

}  // namespace binet
