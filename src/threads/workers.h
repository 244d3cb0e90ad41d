// Room: threads. The threads that all pools of a process share, and how a caller hands work to them.
//
// A caller offers its job to workers that are idle, works on it itself, and takes back what nobody has begun: it never
// waits for a thread that has not woken up yet. Idle workers watch for work for a moment (kWatch) and then sleep.
//
//  - Who works on a job begins with a share of its own, the same one in every job (shares.h).
//  - Callers and helpers together never exceed the CPUs, or what one caller asked for: when as many callers as CPUs run
//    at once, each works alone, and none waits for another's thread.
//  - The threads are joined when the last ThreadPool that could use them is gone.
//  - After fork() the child has no workers; it starts new ones when it needs them. fork() must not happen while another
//    thread is inside Binet.
//
// docs/decisions/threads.md has the measurements. No allocation but in start().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "binet/executor.h"
#include "threads/thread_pool.h"

namespace binet {

class Workers {
 public:
  /// Those of this process: made by the first caller, gone with the last holder.
  [[nodiscard]] static std::shared_ptr<Workers> of_process();

  Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  /// Calls task(0) ... task(tasks - 1) in the calling thread and at most `threads` - 1 others.
  void run(std::int64_t tasks, TaskRef task, int threads, Sleepers sleepers);

  /// Has at least `wanted` workers, or as many as the system gives.
  void start(int wanted);

  /// The number of threads that exist now.
  [[nodiscard]] int count() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  struct Job;
  struct Worker;
  struct ForkHandlers;

  static constexpr std::size_t kMost = 1024;

  int offer(Job& job, int wanted, Sleepers sleepers);
  void finish(Job& job);
  void forget_threads() noexcept;

  const int cpus_;
  std::mutex start_mutex_;
  std::atomic<int> count_{0};
  std::atomic<int> active_{0};            ///< threads that are working, callers and helpers
  std::atomic<std::uint32_t> missed_{0};  ///< short calls that could have used sleeping workers
  std::array<Worker*, kMost> workers_{};
};

}  // namespace binet
