// Tests: hierarchies
#include "os/cgroup.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "os/file.h"

namespace ares::os {
namespace {

TEST(Hierarchies, AreThoseOfEachController) {
  const Hierarchies hybrid(
      "30 20 0:26 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "31 20 0:27 / /cg/pids rw - cgroup cgroup rw,pids\n"
      "32 20 0:28 / /cg/unified rw shared:9 - cgroup2 cgroup2 rw\n",
      "5:cpu,cpuacct:/own/group\n4:pids:/\n3:memory:/own\n0::/other\n");
  EXPECT_EQ(hybrid.unified(), "/cg/unified/other");
  EXPECT_EQ(hybrid.v1("cpu"), "/cg/cpu,cpuacct/own/group");
  EXPECT_EQ(hybrid.v1("pids"), "/cg/pids");
  EXPECT_EQ(hybrid.v1("memory"), "") << "not mounted";
  EXPECT_EQ(hybrid.v1("cpuset"), "");
}

TEST(Hierarchies, MountOfAContainersGroupIsItsRoot) {
  const Hierarchies container(
      "30 20 0:26 /docker/1a /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "31 20 0:27 /docker/1a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "32 20 0:28 /docker/1a /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "4:pids:/docker/1a\n3:memory:/docker/1a/inner\n0::/docker/1abc\n");
  EXPECT_EQ(container.v1("pids"), "/sys/fs/cgroup/pids");
  EXPECT_EQ(container.v1("memory"), "/sys/fs/cgroup/memory/inner");
  EXPECT_EQ(container.unified(), "/sys/fs/cgroup/unified/docker/1abc");
}

// Plain files stand in for the kernel's: the tests check which are chosen and what is written.
class Groups : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-cgroup-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(path); }

  // The group `job` with these files.
  void make(const std::string& hierarchy, std::initializer_list<const char*> files) {
    std::filesystem::create_directories(group(hierarchy));
    for (const char* file : files) std::ofstream(group(hierarchy) + "/" + file);
  }
  std::string group(const std::string& hierarchy) const {
    return path + "/" + hierarchy + "/own/job";
  }
  std::string value(const std::string& hierarchy, const std::string& file) const {
    return read_file(group(hierarchy) + "/" + file).value_or("none");
  }
  void set(const std::string& file, const std::string& text) const {
    std::ofstream(path + "/" + file) << text;
  }
  std::string mount(const std::string& controller) const {
    return "30 20 0:26 / " + path + "/" + controller + " rw - cgroup cgroup rw," + controller +
           "\n";
  }
  std::string unified() const {
    return "32 20 0:28 / " + path + "/unified rw - cgroup2 cgroup2 rw\n";
  }

  std::string path;
};

TEST_F(Groups, AreMadeInTheHierarchyOfEachController) {
  for (const char* hierarchy : {"unified", "memory", "freezer"})
    make(hierarchy, {"cgroup.procs", "cgroup.freeze", "cgroup.controllers", "memory.limit_in_bytes",
                     "memory.oom_control", "freezer.state"});
  const std::string self = "7:memory:/own\n6:freezer:/own\n0::/own\n";
  const std::string v1_mounts = mount("memory") + mount("freezer");
  {
    auto planned = Cgroup::plan("job", {.memory = Bytes::mib(1)}, {v1_mounts + unified(), self});
    ASSERT_TRUE(planned);
    EXPECT_EQ(planned->directories(),
              group("unified") + ":" + group("freezer") + ":" + group("memory"));
    EXPECT_EQ(value("memory", "memory.limit_in_bytes"), "") << "only planned";
    ASSERT_TRUE(planned->create());
    EXPECT_TRUE(planned->limits().limits_memory());
    EXPECT_EQ(value("memory", "memory.limit_in_bytes"), "1048576");
    EXPECT_FALSE(planned->limits().ran_out_of_memory());
    set("memory/own/job/memory.oom_control", "under_oom 0\noom_kill 2\n");
    EXPECT_TRUE(planned->limits().ran_out_of_memory());
    EXPECT_TRUE(planned->freeze());
    EXPECT_EQ(value("unified", "cgroup.freeze"), "1");
  }
  auto v1 = Cgroup::plan("job", {}, {v1_mounts, self});
  ASSERT_TRUE(v1);
  ASSERT_TRUE(v1->create());
  EXPECT_TRUE(v1->freeze());
  EXPECT_EQ(value("freezer", "freezer.state"), "FROZEN");
  EXPECT_FALSE(v1->limits().limits_memory());
  EXPECT_FALSE(Cgroup::plan("job", {.memory = Bytes::mib(1)}, {"", ""}));
}

TEST_F(Groups, UnifiedOneSetsTheLimitsOfItsControllers) {
  make("unified", {"cgroup.procs", "memory.max", "memory.swap.max", "memory.events", "cpuset.cpus",
                   "pids.max", "cpu.max"});
  set("unified/own/job/cgroup.controllers", "cpuset cpu memory pids\n");
  set("unified/own/job/cpuset.cpus.effective", "0-7\n");
  auto planned = Cgroup::plan(
      "job", {.memory = Bytes::mib(1), .cpus = {2, 3, 9}, .cpu_count = 3, .processes = 50},
      {unified(), "0::/own\n"});
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->directories(), group("unified"));
  ASSERT_TRUE(planned->create());
  EXPECT_EQ(value("unified", "memory.max"), "1048576");
  EXPECT_EQ(value("unified", "memory.swap.max"), "0");
  EXPECT_EQ(value("unified", "cpuset.cpus"), "2-3") << "the machine has no CPU 9";
  EXPECT_EQ(value("unified", "pids.max"), "50");
  EXPECT_EQ(value("unified", "cpu.max"), "") << "the set is enough";
  EXPECT_TRUE(planned->limits().keeps_cpus());
  EXPECT_TRUE(planned->limits().limits_processes());
  set("unified/own/job/memory.events", "oom 1\noom_kill 1\n");
  EXPECT_TRUE(planned->limits().ran_out_of_memory());
}

TEST_F(Groups, CpuTimeIsLimitedWhereCpusCannotBeKept) {
  make("cpu", {"cgroup.procs", "cpu.cfs_quota_us", "cpu.cfs_period_us"});
  auto planned =
      Cgroup::plan("job", {.cpus = {2, 3}, .cpu_count = 2}, {mount("cpu"), "2:cpu:/own\n"});
  ASSERT_TRUE(planned);
  ASSERT_TRUE(planned->create());
  EXPECT_FALSE(planned->limits().keeps_cpus());
  EXPECT_TRUE(planned->limits().limits_cpu_time());
  EXPECT_EQ(value("cpu", "cpu.cfs_quota_us"), "200000");
}

}  // namespace
}  // namespace ares::os
