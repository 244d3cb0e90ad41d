#include "threads/workers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <new>
#include <system_error>
#include <thread>

#include "base/aligned_buffer.h"
#include "threads/futex.h"
#include "threads/shares.h"
#include "threads/thread_pool.h"

namespace binet {
namespace {

/// How long an idle worker, or a caller whose helpers have not finished, watches before it sleeps. Kernels of one run
/// follow one another within microseconds; waking a thread costs tens of them.
constexpr std::chrono::microseconds kWatch{150};

/// A series of short calls would never get help if none of them woke a worker. One of so many does, so that waking
/// costs the caller but a small part of its time.
constexpr std::uint32_t kShortCallsToWake = 16;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Returns when `is_ready` does, or after kWatch; the last value of is_ready.
template <class Ready>
bool watch(const Ready& is_ready) {
  constexpr int kChecksPerLook = 32;
  const auto end = std::chrono::steady_clock::now() + kWatch;
  do {
    for (int i = 0; i < kChecksPerLook; ++i) {
      if (is_ready()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return is_ready();
}

}  // namespace

/// One call of run(), on the caller's stack, in a cache line that the caller uses for nothing else.
struct alignas(kCacheLine) Workers::Job {
  TaskRef task;
  Shares shares;

  /// `thread`: 0 is the caller.
  void work(std::int64_t thread) {
    for (std::int64_t i = shares.take(thread); i >= 0; i = shares.take(thread)) task(i);
  }
};

struct alignas(kCacheLine) Workers::Worker {
  // What `state` holds: nothing; a job that is offered; the same with the lowest bit set while it is worked on.
  static constexpr std::uintptr_t kIdle = 0;
  static constexpr std::uintptr_t kTaken = 1;

  std::atomic<std::uintptr_t> state{kIdle};
  std::atomic<bool> is_asleep{false};
  std::atomic<bool> must_end{false};
  std::atomic<std::uint32_t> wakes{0};     ///< the worker sleeps on it
  std::atomic<std::uint32_t> finished{0};  ///< callers sleep on it
  std::atomic<int> waiting_callers{0};
  std::atomic<int> avoided_cpu{-1};  ///< where this thread may not run: see keep_off()
  std::thread thread;

  static std::uintptr_t offer_of(Job& job) { return reinterpret_cast<std::uintptr_t>(&job); }

  /// `number` is that of its shares.
  void loop(std::int64_t number) {
    // Signals are for the threads that the program knows of.
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    ::pthread_setname_np(::pthread_self(), "binet");
    while (Job* job = next_job()) {
      job->work(number);
      // From here on the job may be gone.
      state.store(kIdle);
      finished.fetch_add(1);
      if (waiting_callers.load() > 0) futex_wake_all(finished);
    }
  }

  /// Takes the job that is offered next; null: it is time to end.
  Job* next_job() {
    for (;;) {
      const auto is_ready = [&] { return state.load() != kIdle || must_end.load(); };
      if (!watch(is_ready)) sleep(is_ready);
      if (must_end.load()) return nullptr;
      std::uintptr_t offered = state.load();
      if (offered == kIdle || !state.compare_exchange_strong(offered, offered | kTaken)) continue;
      return reinterpret_cast<Job*>(offered);  // NOLINT(performance-no-int-to-ptr): the lowest bit is a flag
    }
  }

  /// Until it is woken: when it comes too late for the job, another one may follow and is watched for.
  template <class Ready>
  void sleep(const Ready& is_ready) {
    is_asleep.store(true);
    const std::uint32_t seen = wakes.load();
    if (!is_ready()) futex_wait(wakes, seen);
    is_asleep.store(false);
  }

  /// Either the worker sees what changed before it sleeps, or it is seen to sleep here.
  void wake() {
    if (!is_asleep.load()) return;
    wakes.fetch_add(1);
    futex_wake_all(wakes);
  }

  /// A sleeper is often woken on the CPU of the thread that wakes it, and waits there for a time slice of milliseconds
  /// while others idle. So it may not run where its caller does.
  void keep_off(int cpu) {
    if (cpu < 0 || avoided_cpu.load(std::memory_order_relaxed) == cpu) return;
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
    CPU_CLR(static_cast<std::size_t>(cpu), &allowed);
    if (CPU_COUNT(&allowed) == 0) return;
    if (::pthread_setaffinity_np(thread.native_handle(), sizeof(allowed), &allowed) != 0) return;
    avoided_cpu.store(cpu, std::memory_order_relaxed);
  }

  /// Takes the job back if this worker has it and has not begun; waits if it has.
  void finish(Job& job) {
    std::uintptr_t offered = offer_of(job);
    if (state.compare_exchange_strong(offered, kIdle)) return;
    const std::uintptr_t taken = offer_of(job) | kTaken;
    if (offered != taken) return;
    const auto is_ready = [&] { return state.load() != taken; };
    if (watch(is_ready)) return;
    waiting_callers.fetch_add(1);
    for (std::uint32_t seen = finished.load(); !is_ready(); seen = finished.load()) futex_wait(finished, seen);
    waiting_callers.fetch_sub(1);
  }
};

/// fork() copies the calling thread alone. The registry's lock is held across it, so that the child finds it free.
struct Workers::ForkHandlers {
  std::mutex mutex;
  std::weak_ptr<Workers> workers;
  Workers* alive = nullptr;  ///< the same; usable where memory must not be touched

  static ForkHandlers& of_process() {
    static ForkHandlers& handlers = *new ForkHandlers;  // never destroyed: fork() may happen while a program ends
    static const int registered =
        ::pthread_atfork([] { of_process().mutex.lock(); }, [] { of_process().mutex.unlock(); },
                         [] {
                           ForkHandlers& child = of_process();
                           if (child.alive != nullptr) child.alive->forget_threads();
                           child.mutex.unlock();
                         });
    static_cast<void>(registered);
    return handlers;
  }
};

std::shared_ptr<Workers> Workers::of_process() {
  ForkHandlers& process = ForkHandlers::of_process();
  const std::lock_guard lock(process.mutex);
  std::shared_ptr<Workers> workers = process.workers.lock();
  if (workers == nullptr) {
    workers = std::make_shared<Workers>();
    process.workers = workers;
    process.alive = workers.get();
  }
  return workers;
}

Workers::Workers() : cpus_(available_cpus()) {}

Workers::~Workers() {
  {
    ForkHandlers& process = ForkHandlers::of_process();
    const std::lock_guard lock(process.mutex);
    if (process.alive == this) process.alive = nullptr;
  }
  for (int i = 0; i < count(); ++i) {
    Worker* const worker = workers_[static_cast<std::size_t>(i)];
    worker->must_end.store(true);
    worker->wake();
    worker->thread.join();
    delete worker;
  }
}

/// In the child of a fork(): the threads are not there, and what they held cannot be given back.
void Workers::forget_threads() noexcept {
  count_.store(0);
  active_.store(0);
}

void Workers::start(int wanted) {
  wanted = std::min(wanted, static_cast<int>(kMost));
  if (count() >= wanted) return;
  const std::lock_guard lock(start_mutex_);
  try {
    for (int i = count(); i < wanted; ++i) {
      auto worker = std::make_unique<Worker>();
      worker->thread = std::thread([w = worker.get(), number = i + 1] { w->loop(number); });
      workers_[static_cast<std::size_t>(i)] = worker.release();
      count_.store(i + 1, std::memory_order_release);
    }
  } catch (const std::system_error&) {
    // No more threads can be had: the work is done by those that there are.
  } catch (const std::bad_alloc&) {
  }
}

void Workers::run(std::int64_t tasks, TaskRef task, int threads, Sleepers sleepers) {
  Job job{task, Shares(tasks, std::min<std::int64_t>(threads, tasks))};
  const int others = active_.fetch_add(1);
  const int room = std::max(cpus_, threads) - 1 - others;
  const int wanted = static_cast<int>(std::min<std::int64_t>({threads - 1, tasks - 1, room}));
  int helpers = 0;
  if (wanted > 0) {
    start(threads - 1);
    helpers = offer(job, wanted, sleepers);
  }
  job.work(0);
  if (helpers > 0) finish(job);
  active_.fetch_sub(1 + helpers);
}

/// Workers that are awake come first: they begin at once.
int Workers::offer(Job& job, int wanted, Sleepers sleepers) {
  const int cpu = ::sched_getcpu();
  const int all = count();
  int helpers = 0;
  const auto offer_to_those = [&](bool asleep) {
    for (int i = 0; i < all && helpers < wanted; ++i) {
      Worker& worker = *workers_[static_cast<std::size_t>(i)];
      std::uintptr_t idle = Worker::kIdle;
      if (worker.is_asleep.load() != asleep || worker.state.load() != idle) continue;
      if (!worker.state.compare_exchange_strong(idle, Worker::offer_of(job))) continue;
      worker.keep_off(cpu);
      worker.wake();
      ++helpers;
    }
  };
  offer_to_those(false);
  if (helpers < wanted && (sleepers == Sleepers::wake || ++missed_ % kShortCallsToWake == 0)) offer_to_those(true);
  active_.fetch_add(helpers);
  return helpers;
}

/// Every worker that has the job is done with it, or has not begun and will not.
void Workers::finish(Job& job) {
  const int all = count();
  for (int i = 0; i < all; ++i) workers_[static_cast<std::size_t>(i)]->finish(job);
}

}  // namespace binet
