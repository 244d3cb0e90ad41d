#include "threads/thread_pool.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace binet {

struct ThreadPool::Arena {
  explicit Arena(int threads) : arena(threads) {}
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
