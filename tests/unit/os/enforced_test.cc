#include "os/enforced.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/cgroup.h"

namespace ares::os {
namespace {

TEST(Enforced, AgreesWithTheLimitsThatCanBeSet) {
  auto group = Cgroup::plan("ares-enforced-" + std::to_string(::getpid()), {.processes = 10});
  const bool processes = group && group->create() && group->limits().limits_processes();
  EXPECT_EQ(enforced_limits(*Hierarchies::of_this_process()).find("processes") != std::string::npos,
            processes);
}

TEST(Enforced, IsNothingWithoutRoot) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(2);
    ::_exit(enforced_limits(*Hierarchies::of_this_process()) == "none" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  // Another user may have a group of its own, and set limits in it.
  if (::geteuid() == 0) {
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace ares::os
