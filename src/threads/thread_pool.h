// Room: threads. Running the parts of one kernel call on several threads.
//
// A kernel cuts its work into tasks whose results do not depend on who runs them, and hands them to a ThreadPool. The
// pool is oneTBB's (docs/decisions/threads.md says why): idle workers sleep, several callers may use one pool at once,
// and a call with one task, or on a pool of one thread, runs in the caller with no hand-over at all.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace binet {

/// A reference to a callable `void(std::int64_t task)`; valid during the call it is passed to.
class TaskRef {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, TaskRef>)
      TaskRef(const Callable& callable)  // NOLINT(google-explicit-constructor): made to be passed a lambda
      : object_(&callable),
        call_([](const void* object, std::int64_t task) { (*static_cast<const Callable*>(object))(task); }) {}

  void operator()(std::int64_t task) const { call_(object_, task); }

 private:
  const void* object_;
  void (*call_)(const void*, std::int64_t);
};

class ThreadPool {
 public:
  /// `threads` counts the calling thread; 0 means one for each CPU that this process may use (affinity, cgroup quota).
  explicit ThreadPool(int threads = 0);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const noexcept { return threads_; }

  /// Calls task(0) ... task(tasks - 1), each once, in any order, and returns when all are done. Tasks must not throw.
  void run(std::int64_t tasks, TaskRef task) const;

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

/// The number of CPUs that this process may use: its affinity, cut by a cgroup v2 or v1 quota; at least 1.
[[nodiscard]] int available_cpus();

}  // namespace binet
