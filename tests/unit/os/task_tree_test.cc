#include "os/task_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace ares::os {
namespace {

constexpr int kNoTest = 99;

// The return value of the function in a child process that may not create namespaces.
int without_privileges(int (*test)()) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(kNoTest);
    ::_exit(can_isolate_processes() ? kNoTest : test());
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TaskTree::BodyFailure nothing() {
  return {};
}

// Regression: a task was started without isolation although it could not be stopped at the end of its lease.
TEST(TaskTree, DoesNotStartWithoutRequiredIsolation) {
  EXPECT_EQ(without_privileges([] {
              TaskTree tree(nothing, TaskTree::Isolation::required, std::nullopt);
              const Result<pid_t> spawned = tree.spawn_gated();
              if (spawned) return 1;
              if (spawned.error().message.find("pid namespace") == std::string::npos) return 2;
              return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 3;
            }),
            0);
}

TEST(TaskTree, StartsWithoutOptionalIsolation) {
  EXPECT_EQ(without_privileges([] {
              TaskTree tree(nothing, TaskTree::Isolation::wanted, std::nullopt);
              const Result<pid_t> spawned = tree.spawn_gated();
              return spawned && *spawned > 0 && !tree.isolated() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace ares::os
