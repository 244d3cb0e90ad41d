#include "threads/cgroup.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

#include "base/text.h"

namespace binet {
namespace {

namespace fs = std::filesystem;

/// CPUs granted by a quota in microseconds per period; 0: none, which v1 writes as -1 and v2 as "max".
int quota_cpus(double quota, double period) {
  if (!(quota > 0 && period > 0)) return 0;
  return static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
}

int read_v2(const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");
  double quota = 0;
  double period = 0;
  return file >> quota >> period ? quota_cpus(quota, period) : 0;
}

int read_v1(const fs::path& folder) {
  std::ifstream quota_file(folder / "cpu.cfs_quota_us");
  std::ifstream period_file(folder / "cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  return quota_file >> quota && period_file >> period ? quota_cpus(quota, period) : 0;
}

int smaller_quota(int a, int b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

/// The smallest quota of `group` below `mount` and of every group above it. In a container, `group` may be a path that
/// is not visible here; the root still is.
template <class Read>
int least_quota(const fs::path& mount, std::string_view group, const Read& read) {
  int least = read(mount);
  fs::path folder = mount;
  for (const std::string_view part : split(group, '/')) {
    if (part.empty() || part == "..") continue;
    folder /= part;
    least = smaller_quota(least, read(folder));
  }
  return least;
}

}  // namespace

int cgroup_cpus(const fs::path& membership, const fs::path& root) {
  std::ifstream file(membership);
  int least = 0;
  for (std::string line; std::getline(file, line);) {
    // hierarchy:controllers:group; cgroup v2 is hierarchy 0, without controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = smaller_quota(least, least_quota(root, group, read_v2));
      least = smaller_quota(least, least_quota(root / "unified", group, read_v2));
      continue;
    }
    const auto names = split(controllers, ',');
    if (std::find(names.begin(), names.end(), "cpu") == names.end()) continue;
    least = smaller_quota(least, least_quota(root / "cpu", group, read_v1));
  }
  return least;
}

}  // namespace binet
