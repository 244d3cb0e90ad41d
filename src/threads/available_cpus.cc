// Room: threads. How many CPUs this process may use.
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "threads/thread_pool.h"

namespace binet {
namespace {

int affinity_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// CPUs granted by a quota in microseconds per period, rounded up; 0: no quota.
int quota_cpus(double quota, double period) {
  if (quota <= 0 || period <= 0) return 0;
  return std::max(1, static_cast<int>((quota + period - 1) / period));
}

int cgroup_cpus() {
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2) {
    std::string quota;
    double period = 0;
    v2 >> quota >> period;
    return quota.empty() || quota == "max" ? 0 : quota_cpus(std::strtod(quota.c_str(), nullptr), period);
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (v1_quota >> quota && v1_period >> period) return quota_cpus(quota, period);
  return 0;
}

}  // namespace

int available_cpus() {
  const int cpus = affinity_cpus();
  const int granted = cgroup_cpus();
  return granted > 0 ? std::min(cpus, granted) : cpus;
}

}  // namespace binet
