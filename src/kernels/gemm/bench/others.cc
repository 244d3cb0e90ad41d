#include "kernels/gemm/bench/others.h"

#include <time.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace binet::kernels::gemm::bench {
namespace {

double now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds in which CPUs had something to do, of all of them together, since the start of the system (proc(5)).
double busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, steal = 0;
  stat >> cpu >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq >> steal;
  return (user + nice + system + irq + soft_irq + steal) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

Others::Others() : wall_(now(CLOCK_MONOTONIC)), busy_(busy_seconds()), own_(now(CLOCK_PROCESS_CPUTIME_ID)) {}

bool Others::have_disturbed(int threads) const {
  constexpr double kTolerated = 0.05;
  const double wall = now(CLOCK_MONOTONIC) - wall_;
  const double others = (busy_seconds() - busy_) - (now(CLOCK_PROCESS_CPUTIME_ID) - own_);
  const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  return others > (cpus - threads + kTolerated) * wall;
}

}  // namespace binet::kernels::gemm::bench
