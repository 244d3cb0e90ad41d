// Room: threads. Running the parts of one kernel call on several threads.
//
// A kernel cuts its work into tasks whose results do not depend on who runs them, and hands them to a ThreadPool: a
// number of threads, and where they come from, which is Binet's own workers (workers.h), shared by the whole process,
// or the caller's Executor. Several threads may use one pool at once. A call with one task, or on a pool of one thread,
// runs in the calling thread with no hand-over at all.
#pragma once

#include <cstdint>
#include <memory>

#include "binet/executor.h"

namespace binet {

class Workers;

/// Whether a call is worth waking threads that sleep, which takes microseconds of the caller's time.
enum class Sleepers : std::uint8_t {
  wake,
  spare,  ///< for short calls: threads that are awake help; others sleep on, but for one such call in many
};

class ThreadPool {
 public:
  /// `threads` counts the calling thread; 0 means default_threads(). No thread is started before it is needed.
  explicit ThreadPool(int threads = 0);
  /// A pool that hands everything to the executor.
  explicit ThreadPool(std::shared_ptr<Executor> executor);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Calls task(0) ... task(tasks - 1), each once, in any order, and returns when all are done. Tasks must not throw.
  void run(std::int64_t tasks, TaskRef task, Sleepers sleepers = Sleepers::wake) const;

  /// Starts the threads now, so that no later run() has to.
  void start() const;

 private:
  int threads_ = 1;
  std::shared_ptr<Executor> executor_;
  std::shared_ptr<Workers> workers_;  ///< null: everything runs in the caller, or in the executor
};

/// The number of CPUs that this process may use: its affinity, cut by a cgroup v2 or v1 quota; at least 1.
[[nodiscard]] int available_cpus();

/// BINET_THREADS if that is set, else available_cpus(). Throws Error if it is no number from 1 to 4096.
[[nodiscard]] int default_threads();

}  // namespace binet
