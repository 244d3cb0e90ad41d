#include "threads/cgroup.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace binet {
namespace {

namespace fs = std::filesystem;

class Cgroup : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "binet-cgroup-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  int cpus(const std::string& membership, const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, text] : files) write(name, text);
    write("membership", membership);
    return cgroup_cpus(root_ / "membership", root_);
  }

 private:
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  fs::path root_;
};

TEST_F(Cgroup, NoFilesMeanNoQuota) {
  EXPECT_EQ(cgroup_cpus("/nonexistent/membership", "/nonexistent"), 0);
  EXPECT_EQ(cpus("0::/\n", {}), 0);
}

TEST_F(Cgroup, V2AtTheRootAsInAContainer) { EXPECT_EQ(cpus("0::/\n", {{"cpu.max", "200000 100000\n"}}), 2); }

TEST_F(Cgroup, V2MaxIsNoQuota) { EXPECT_EQ(cpus("0::/\n", {{"cpu.max", "max 100000\n"}}), 0); }

TEST_F(Cgroup, PartsOfACpuAreRoundedUp) {
  EXPECT_EQ(cpus("0::/\n", {{"cpu.max", "50000 100000\n"}}), 1);
  EXPECT_EQ(cpus("0::/\n", {{"cpu.max", "250000 100000\n"}}), 3);
}

TEST_F(Cgroup, TheSmallestQuotaOnTheWayUpCounts) {
  EXPECT_EQ(cpus("0::/a.slice/b.service\n",
                 {{"a.slice/cpu.max", "300000 100000\n"}, {"a.slice/b.service/cpu.max", "max 100000\n"}}),
            3);
  EXPECT_EQ(cpus("0::/a.slice/b.service\n", {{"a.slice/b.service/cpu.max", "100000 100000\n"}}), 1);
}

TEST_F(Cgroup, V1) {
  const std::string membership = "5:memory:/m\n4:cpu,cpuacct:/c\n";
  EXPECT_EQ(cpus(membership, {{"cpu/c/cpu.cfs_quota_us", "-1\n"}, {"cpu/c/cpu.cfs_period_us", "100000\n"}}), 0);
  EXPECT_EQ(cpus(membership, {{"cpu/c/cpu.cfs_quota_us", "400000\n"}}), 4);
}

TEST_F(Cgroup, WhatIsNoNumberIsNoQuota) {
  EXPECT_EQ(cpus("0::/\nnonsense\n1:\n", {{"cpu.max", "lots of it\n"}}), 0);
  EXPECT_EQ(cpus("0::/\n", {{"cpu.max", "100000 0\n"}}), 0);
}

}  // namespace
}  // namespace binet
