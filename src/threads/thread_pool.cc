#include "threads/thread_pool.h"

#include <algorithm>
#include <cstdlib>

#include "base/fail.h"
#include "base/text.h"
#include "threads/workers.h"

namespace binet {

Executor::~Executor() = default;

int default_threads() {
  constexpr std::uint64_t kMost = 4096;
  const char* text = std::getenv("BINET_THREADS");
  if (text == nullptr || *text == '\0') return available_cpus();
  const auto threads = parse_unsigned(text);
  if (!threads || *threads < 1 || *threads > kMost) {
    fail(ErrorCode::invalid_argument, "BINET_THREADS: {} is not a number of threads; it must be 1 to {}", quote(text),
         kMost);
  }
  return static_cast<int>(*threads);
}

ThreadPool::ThreadPool(int threads) : threads_(threads > 0 ? threads : default_threads()) {
  if (threads_ > 1) workers_ = Workers::of_process();
}

ThreadPool::ThreadPool(std::shared_ptr<Executor> executor)
    : threads_(std::max(1, executor->threads())), executor_(std::move(executor)) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::run(std::int64_t tasks, TaskRef task, Sleepers sleepers) const {
  if (tasks <= 1 || threads_ == 1) {
    for (std::int64_t i = 0; i < tasks; ++i) task(i);
  } else if (workers_ != nullptr) {
    workers_->run(tasks, task, threads_, sleepers);
  } else {
    executor_->run(tasks, task);
  }
}

void ThreadPool::start() const {
  if (workers_ != nullptr) workers_->start(threads_ - 1);
}

}  // namespace binet
