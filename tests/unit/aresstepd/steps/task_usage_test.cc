#include "aresstepd/steps/task_usage.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ctime>

namespace ares::stepd {
namespace {

TEST(TaskUsage, ChildThatComputesIsSeenToUseCpuAndMemory) {
  const pid_t child = ::fork();
  if (child == 0)
    for (std::atomic<unsigned> n = 0;;) n.fetch_add(1);
  std::optional<steps::TaskEnd> used;
  for (int i = 0; i < 1000; ++i) {
    used = usage_of(child);
    if (used && used->user_cpu > Duration{}) break;
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(used);
  EXPECT_GT(used->user_cpu, Duration{});
  EXPECT_GT(used->max_rss, 0);
}

TEST(TaskUsage, ProcessThatHasEndedIsNotReported) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(usage_of(child));
}

}  // namespace
}  // namespace ares::stepd
