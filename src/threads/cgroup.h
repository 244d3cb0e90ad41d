// Room: threads. How many CPUs the cgroup of this process grants (cgroup v2: cpu.max; v1: cpu.cfs_quota_us).
#pragma once

#include <filesystem>

namespace binet {

/// `membership` is /proc/self/cgroup, `root` where the cgroup file systems are mounted. A quota counts at every level
/// from the process's own group up to the root; the smallest applies, rounded up to whole CPUs. 0: there is none.
[[nodiscard]] int cgroup_cpus(const std::filesystem::path& membership, const std::filesystem::path& root);

}  // namespace binet
