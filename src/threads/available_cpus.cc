// Room: threads. How many CPUs this process may use.
#include <sched.h>

#include <algorithm>

#include "threads/cgroup.h"
#include "threads/thread_pool.h"

namespace binet {
namespace {

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace

int available_cpus() {
  // Quotas are read once: opening these files takes longer than making a session.
  static const int granted = cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
  const int cpus = affinity_cpus();
  return granted > 0 ? std::min(cpus, granted) : cpus;
}

}  // namespace binet
