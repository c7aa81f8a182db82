// Use of control groups, read from files that look like theirs.
#include "os/group_use.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>

#include "os/file.h"

namespace ares::os {
namespace {

class GroupUse : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/ares-group-use-XXXXXX";
    root_ = ::mkdtemp(name);
  }
  void TearDown() override { (void)remove_tree(root_); }

  std::string group(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& files) {
    const std::string path = root_ + "/" + name;
    EXPECT_TRUE(make_directories(path, 0700));
    for (const auto& [file, text] : files) std::ofstream(path + "/" + file) << text;
    return path;
  }

  std::string root_;
};

TEST_F(GroupUse, JoinsTheHierarchiesOfVersion1AndTheUnifiedOne) {
  const std::string unified =
      group("unified", {{"cgroup.procs", "1\n2\n3\n"},
                        {"cpu.stat", "usage_usec 700\nuser_usec 400\nsystem_usec 300\n"}});
  const std::string memory = group("memory", {{"cgroup.procs", "1\n2\n3\n"},
                                              {"memory.max_usage_in_bytes", "9000\n"},
                                              {"memory.stat", "rss 1\ntotal_rss 5000\n"}});
  const auto use = live_use(unified + ":" + root_ + "/missing:" + memory);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->processes, 3u);
  EXPECT_EQ(use->user_cpu, Duration(400));
  EXPECT_EQ(use->system_cpu, Duration(300));
  EXPECT_EQ(use->memory, Bytes(5000));
  EXPECT_EQ(use->peak_memory, Bytes(9000));
}

TEST_F(GroupUse, ReadsAGroupOfVersion2) {
  const std::string unified = group(
      "unified",
      {{"cgroup.procs", "7\n"}, {"memory.peak", "300\n"}, {"memory.stat", "anon 200\nfile 50\n"}});
  const auto use = live_use(unified);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->memory, Bytes(200));
  EXPECT_EQ(use->peak_memory, Bytes(300));
}

TEST_F(GroupUse, CountsWhatReachesStorage) {
  const std::string io =
      group("process",
            {{"io",
              "rchar: 900\nwchar: 800\nsyscr: 1\nsyscw: 1\nread_bytes: 70\nwrite_bytes: 60\n"
              "cancelled_write_bytes: 50\n"}}) +
      "/io";
  const DiskUse use_of_one = read_disk_counters(io).use();
  EXPECT_EQ(use_of_one.read, Bytes(70));
  EXPECT_EQ(use_of_one.written, Bytes(10)) << "what was truncated was not written";
  EXPECT_EQ(read_disk_counters(root_ + "/missing").use().read, Bytes{});
  const std::string self =
      group("self", {{"cgroup.procs", "999999999\n" + std::to_string(::getpid()) + "\n"}});
  std::ofstream(root_ + "/written") << std::string(100'000, 'x') << std::flush;
  const auto use = live_use(self);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->disk.written, read_disk_counters("/proc/self/io").use().written);
}

TEST_F(GroupUse, WhatOneProcessTruncatesOfAnotherIsSubtractedFromTheSum) {
  DiskCounters sum{0, 100, 0};
  sum += {5, 0, 60};
  EXPECT_EQ(sum.use().read, Bytes(5));
  EXPECT_EQ(sum.use().written, Bytes(40));
  EXPECT_EQ((sum - DiskCounters{9, 90, 0}).use().read, Bytes{});
}

TEST_F(GroupUse, NoneWithoutGroups) {
  EXPECT_FALSE(live_use(""));
  EXPECT_FALSE(live_use(root_ + "/missing:" + root_ + "/gone"));
}

}  // namespace
}  // namespace ares::os
