#include "aresstepd/reaper.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "os/clock.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

// How often the process has waited for something.
long waits(pid_t pid) {
  const Result<std::string> status = os::read_file("/proc/" + std::to_string(pid) + "/status");
  constexpr std::string_view kKey = "\nvoluntary_ctxt_switches:";
  const std::size_t at = status ? status->find(kKey) : std::string::npos;
  return at == std::string::npos ? -1 : std::atol(status->c_str() + at + kKey.size());
}

void wait_until(BootTime time) {
  while (os::boot_now() < time) ::usleep(10'000);
}

// Regression: it searched /proc a hundred times a second for as long as it could not end a process, such as one that hangs in
// a file system. Here the process belongs to another user.
TEST(Reaper, SearchesSeldomForWhatItCannotEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make processes of two users";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t reaper = ::fork();
  if (reaper == 0) {
    const pid_t orphan = ::fork();
    if (orphan == 0)
      for (;;) ::pause();
    constexpr uid_t kNobody = 65534;
    if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 1);  // so that /proc shows it as a program of this user
    ::_exit(run_under_reaper("/nonexistent/7.1", -1, [&](pid_t) {
      return ::write(ends[1], &orphan, sizeof orphan) == sizeof orphan ? 7 : 1;
    }));
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ::close(ends[0]);
  ::close(ends[1]);
  const BootTime start = os::boot_now();
  wait_until(start + Seconds(2));  // a second search each 10, 20, 40 ... 1000 ms by then
  const long before = waits(reaper);
  wait_until(start + Seconds(5));
  const long after = waits(reaper);
  EXPECT_GE(before, 0);
  EXPECT_LE(after - before, 10);

  ::kill(orphan, SIGKILL);
  int status = 0;
  const BootTime deadline = os::boot_now() + Seconds(10);
  pid_t ended = 0;
  while ((ended = ::waitpid(reaper, &status, WNOHANG)) == 0 && os::boot_now() < deadline)
    ::usleep(1000);
  EXPECT_EQ(ended, reaper) << "it ends with the last process";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  if (ended == 0) ::kill(reaper, SIGKILL);
}

}  // namespace
}  // namespace ares::stepd
