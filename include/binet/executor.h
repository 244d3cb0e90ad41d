// Threads of the caller's own, in place of Binet's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "binet/export.h"

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

/// What a Session uses when SessionOptions::executor is set: the threads of an application that has a pool already.
class BINET_EXPORT Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor();

  /// Threads that may work on one call of run(), the calling one among them. Asked once, when a session is made.
  [[nodiscard]] virtual int threads() const = 0;

  /// Calls task(0) ... task(tasks - 1), each once, in any order, on any threads, and returns when all are done. Tasks
  /// neither throw nor wait for each other. Several sessions, or runs of one, may call at the same time.
  virtual void run(std::int64_t tasks, TaskRef task) = 0;
};

}  // namespace binet
