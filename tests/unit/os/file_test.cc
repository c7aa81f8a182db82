// Tests: fd
#include "os/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "os/cgroup.h"
#include "os/clock.h"

namespace ares::os {
namespace {

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ares-os-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(path); }
  std::string path;
};

TEST_F(Files, RecordIsCreatedOnceAndCompletely) {
  const RecordDir dir = std::move(*RecordDir::open(path));
  ASSERT_TRUE(dir.create("go", "one", false));
  EXPECT_EQ(dir.create("go", "two", false).error().code, ErrorCode::already_exists);
  EXPECT_EQ(*dir.read("go"), "one");
  ASSERT_TRUE(dir.create("exit", std::string(100'000, 'x'), true));
  EXPECT_EQ(dir.read("exit")->size(), 100'000u);
  EXPECT_EQ(dir.read("none").error().code, ErrorCode::not_found);
  EXPECT_EQ(list_directory(path)->size(), 2u) << "nothing half-made stays";
}

TEST_F(Files, OnlyOneOfManyProcessesCreatesTheRecord) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      Result<RecordDir> dir = RecordDir::open(path);
      ::_exit(dir && dir->create("started", std::to_string(i), false) ? 0 : 1);
    }
    children.push_back(pid);
  }
  int winners = 0;
  for (pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    winners += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  EXPECT_EQ(winners, 1);
}

TEST_F(Files, ReservedSpaceBecomesTheRecord) {
  const RecordDir dir = std::move(*RecordDir::open(path));
  ASSERT_TRUE(dir.reserve("exit"));
  EXPECT_FALSE(dir.has("exit"));
  ASSERT_TRUE(dir.create("exit", "short", true));
  EXPECT_EQ(*dir.read("exit"), "short");
  EXPECT_EQ(list_directory(path)->size(), 1u);
}

TEST_F(Files, LockIsVisibleToOthersAndEndsWithItsHolder) {
  const RecordDir other = std::move(*RecordDir::open(path));
  EXPECT_FALSE(other.locked("lock"));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    Result<RecordDir> dir = RecordDir::open(path);
    const Result<bool> taken = dir->lock("lock");
    (void)!::write(ready[1], taken && *taken ? "y" : "n", 1);
    ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_TRUE(other.locked("lock"));
  RecordDir second = std::move(*RecordDir::open(path));
  EXPECT_FALSE(*second.lock("lock"));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_FALSE(other.locked("lock"));
  EXPECT_TRUE(*second.lock("lock"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Files, RemovesATreeWithoutFollowingLinks) {
  std::filesystem::create_directories(path + "/tree/a/b");
  std::ofstream(path + "/tree/a/b/file") << "x";
  std::ofstream(path + "/outside") << "keep";
  std::filesystem::create_symlink(path, path + "/tree/a/link");
  EXPECT_TRUE(remove_tree(path + "/tree"));
  EXPECT_FALSE(std::filesystem::exists(path + "/tree"));
  EXPECT_EQ(*read_file(path + "/outside"), "keep");
  EXPECT_TRUE(remove_tree(path + "/tree"));
}

TEST_F(Files, ReplacesAFileAtomically) {
  ASSERT_TRUE(replace_file(path + "/identity", "one"));
  ASSERT_TRUE(replace_file(path + "/identity", "2"));
  EXPECT_EQ(*read_file(path + "/identity"), "2");
  EXPECT_FALSE(replace_file(path + "/none/identity", "x"));
}

// Plain files stand in for the kernel's: the test checks which are chosen and what is written.
TEST_F(Files, CgroupPicksTheHierarchyOfEachController) {
  const std::string name = "job";
  for (const char* hierarchy : {"/unified", "/memory", "/freezer"}) {
    std::filesystem::create_directories(path + hierarchy + std::string("/own/") + name);
    for (const char* file : {"cgroup.procs", "cgroup.freeze", "cgroup.controllers",
                             "memory.limit_in_bytes", "memory.oom_control", "freezer.state"})
      std::ofstream(path + hierarchy + std::string("/own/") + name + "/" + file);
  }
  const std::string mounts = "30 20 0:26 / " + path + "/memory rw - cgroup cgroup rw,memory\n" +
                             "31 20 0:27 / " + path + "/freezer rw - cgroup cgroup rw,freezer\n" +
                             "32 20 0:28 / " + path + "/unified rw shared:9 - cgroup2 cgroup2 rw\n";
  const std::string self = "7:memory:/own\n6:freezer:/own\n0::/own\n";
  {
    std::optional<Cgroup> group = Cgroup::plan(name, Bytes::mib(1), mounts, self);
    ASSERT_TRUE(group);
    EXPECT_EQ(group->directories(),
              path + "/unified/own/job:" + path + "/memory/own/job:" + path + "/freezer/own/job");
    EXPECT_EQ(*read_file(path + "/memory/own/job/memory.limit_in_bytes"), "") << "only planned";
    ASSERT_TRUE(group->create());
    EXPECT_TRUE(group->limits_memory());
    EXPECT_EQ(*read_file(path + "/memory/own/job/memory.limit_in_bytes"), "1048576");
    EXPECT_FALSE(group->ran_out_of_memory());
    std::ofstream(path + "/memory/own/job/memory.oom_control") << "under_oom 0\noom_kill 2\n";
    EXPECT_TRUE(group->ran_out_of_memory());
    EXPECT_TRUE(group->freeze());
    EXPECT_EQ(*read_file(path + "/unified/own/job/cgroup.freeze"), "1");
  }
  const std::size_t unified = mounts.find("32 20");
  std::optional<Cgroup> v1 = Cgroup::plan(name, Bytes(0), mounts.substr(0, unified), self);
  ASSERT_TRUE(v1);
  ASSERT_TRUE(v1->create());
  EXPECT_TRUE(v1->freeze());
  EXPECT_EQ(*read_file(path + "/freezer/own/job/freezer.state"), "FROZEN");
  EXPECT_FALSE(v1->limits_memory());
  EXPECT_FALSE(Cgroup::plan(name, Bytes::mib(1), "", ""));
}

TEST(Clock, StartTicksIdentifyAProcess) {
  EXPECT_GT(process_start_ticks(::getpid()), 0u);
  EXPECT_EQ(process_start_ticks(::getpid()), process_start_ticks(::getpid()));
  EXPECT_EQ(process_start_ticks(0x7ffffff0), 0u);
  EXPECT_EQ(boot_id()->size(), 36u);
  EXPECT_NE(*fresh_uuid(), *fresh_uuid());
}

}  // namespace
}  // namespace ares::os
