// Memory groups of steps, in real control groups that are removed again.
#include "os/groups/step_groups.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "os/hierarchies.h"

namespace ares::os {
namespace {

class StepGroupsTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<Hierarchies> all = Hierarchies::of_this_process();
    const std::string own = all ? all->v1("memory") : std::string();
    if (own.empty()) GTEST_SKIP() << "the memory controller is not one of cgroup version 1";
    parent_ = own + "/ares-steps-" + std::to_string(::getpid());
    if (::mkdir(parent_.c_str(), 0755) != 0) {
      parent_.clear();
      GTEST_SKIP() << "its groups cannot be made here";
    }
  }
  void TearDown() override {
    if (parent_.empty()) return;
    EXPECT_TRUE(remove_group(parent_));
    EXPECT_FALSE(std::filesystem::exists(parent_));
  }

  // In a process of the group: whether it could use so much; it is killed otherwise.
  static bool can_use(const std::string& group, std::size_t bytes) {
    const pid_t child = ::fork();
    if (child == 0) {
      std::ofstream(group + "/cgroup.procs") << "0" << std::flush;
      std::vector<char> memory(bytes);
      std::memset(memory.data(), 1, memory.size());
      ::_exit(memory[bytes / 2] == 1 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  std::string parent_;
};

constexpr Bytes kLimit = Bytes::mib(32);

TEST_F(StepGroupsTest, ProcessesOfAGroupAreHeldToItsLimit) {
  auto groups = StepGroups::make_below(parent_, ::getuid());
  ASSERT_TRUE(groups) << groups.error().message;
  auto group = (*groups)->take(kLimit);
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_TRUE(can_use((*group)->path(), std::size_t{4} << 20));
  EXPECT_FALSE((*group)->ran_out_of_memory());
  EXPECT_FALSE(can_use((*group)->path(), std::size_t{128} << 20));
  EXPECT_TRUE((*group)->ran_out_of_memory());
}

TEST_F(StepGroupsTest, GroupIsGivenAgainWithAnotherLimit) {
  auto groups = StepGroups::make_below(parent_, ::getuid());
  ASSERT_TRUE(groups) << groups.error().message;
  std::string path;
  {
    auto group = (*groups)->take(kLimit);
    ASSERT_TRUE(group);
    path = (*group)->path();
    EXPECT_FALSE(can_use(path, std::size_t{128} << 20));
  }
  auto again = (*groups)->take(Bytes::mib(512));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->path(), path);
  EXPECT_FALSE((*again)->ran_out_of_memory()) << "that was the step before";
  EXPECT_TRUE(can_use(path, std::size_t{128} << 20));
}

TEST_F(StepGroupsTest, ThereAreSoManyAndNoMore) {
  auto groups = StepGroups::make_below(parent_, ::getuid());
  ASSERT_TRUE(groups) << groups.error().message;
  std::vector<std::unique_ptr<StepGroups::Group>> taken;
  for (std::size_t i = 0; i < StepGroups::kMost; ++i) {
    auto group = (*groups)->take(kLimit);
    ASSERT_TRUE(group) << group.error().message;
    taken.push_back(std::move(*group));
  }
  const auto more = (*groups)->take(kLimit);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, ErrorCode::resource_exhausted);
  taken.pop_back();
  EXPECT_TRUE((*groups)->take(kLimit));
}

// Version 1 lets users move any of their processes into a group that they may write to.
TEST_F(StepGroupsTest, ProcessThatEnteredFromElsewhereIsKilledWithTheGroup) {
  auto groups = StepGroups::make_below(parent_, ::getuid());
  ASSERT_TRUE(groups) << groups.error().message;
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    for (;;) ::pause();
  }
  std::ofstream(parent_ + "/step.3/cgroup.procs") << stranger << std::flush;
  EXPECT_TRUE(remove_group(parent_));
  int status = 0;
  ASSERT_EQ(::waitpid(stranger, &status, 0), stranger);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  parent_.clear();
}

TEST_F(StepGroupsTest, GroupOfNoJobIsNotUsed) {
  const auto groups = StepGroups::make(Bytes(1), ::getuid());
  ASSERT_FALSE(groups) << "this test is limited to more than a byte";
  EXPECT_NE(groups.error().message.find("cannot limit the memory of a step"), std::string::npos);
}

}  // namespace
}  // namespace ares::os
