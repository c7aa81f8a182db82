#include "os/sweep.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "os/cgroup.h"
#include "os/clock.h"
#include "os/file.h"

namespace ares::os {
namespace {

using namespace std::chrono_literals;

// An init process of a new pid namespace with `children` more processes, all of which hold the write end of a pipe.
struct Namespace {
  pid_t init = -1;
  int held = -1;  // read end; end of file once all processes are gone

  explicit Namespace(int children) {
    int pipe_ends[2];
    if (::pipe(pipe_ends) != 0) return;
    int ready[2];
    if (::pipe(ready) != 0) return;
    const pid_t parent = ::fork();
    if (parent == 0) {
      if (::unshare(CLONE_NEWPID) != 0) ::_exit(1);
      const pid_t child = ::fork();
      if (child != 0) {
        (void)!::write(ready[1], &child, sizeof child);
        ::close(pipe_ends[1]);
        int status = 0;
        ::waitpid(child, &status, 0);
        ::_exit(0);
      }
      for (int i = 0; i < children; ++i) {
        if (::fork() == 0) {
          for (;;) ::pause();
        }
      }
      for (;;) ::pause();
    }
    ::close(pipe_ends[1]);
    ::close(ready[1]);
    if (::read(ready[0], &init, sizeof init) != sizeof init) init = -1;
    ::close(ready[0]);
    held = pipe_ends[0];
    waiter_ = parent;
  }
  ~Namespace() {
    if (init > 0) ::kill(init, SIGKILL);
    int status = 0;
    if (waiter_ > 0) ::waitpid(waiter_, &status, 0);
    if (held >= 0) ::close(held);
  }

  bool empty() const {
    pid_t none = 0;
    return ::read(held, &none, 1) == 0;  // would block while a process holds the other end
  }

 private:
  pid_t waiter_ = -1;
};

TEST(Sweep, NamespaceIsGoneOnceAllItsProcessesAre) {
  Namespace made(50);
  if (made.init < 0) GTEST_SKIP() << "only root can make pid namespaces";
  EXPECT_FALSE(namespace_gone(made.init, 0, 20ms)) << "it still runs";
  const std::uint64_t ticks = process_start_ticks(made.init);
  EXPECT_FALSE(namespace_gone(made.init, ticks, 20ms));
  EXPECT_TRUE(namespace_gone(made.init, ticks - 1, 0ms))
      << "its pid belonged to another one before";
  ::kill(made.init, SIGKILL);
  EXPECT_TRUE(namespace_gone(made.init, ticks, 10'000ms));
  EXPECT_TRUE(made.empty());
}

TEST(Sweep, OtherPidsAreNotWaitedFor) {
  EXPECT_TRUE(namespace_gone(0, 0, 0ms));
  EXPECT_TRUE(namespace_gone(::getpid(), 0, 0ms))
      << "a reused number: it lives in our own namespace";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(namespace_gone(child, 0, 0ms));
}

// Regression: processes that the freezer of cgroup v1 held could not die, so that the group stayed and the attempt never ended.
TEST(Sweep, ProcessesFrozenByCgroupV1AreKilled) {
  std::string mounts;
  std::istringstream lines(*read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);)
    if (line.find(" - cgroup ") != std::string::npos) mounts += line + "\n";
  auto group = Cgroup::plan("ares-sweep-" + std::to_string(::getpid()), {},
                            {mounts, *read_file("/proc/self/cgroup")});
  if (!group || !group->create() || !group->can_freeze())
    GTEST_SKIP() << "no freezer of cgroup v1 that we may use";
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  ASSERT_TRUE(group->attach(child));
  ASSERT_TRUE(group->freeze());
  const std::string directories = group->directories();
  remove_groups(directories);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), child)
      << "it has ended before the group is removed";
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = directories.find(':', at);
    EXPECT_NE(::access(directories.substr(at, end - at).c_str(), F_OK), 0);
  }
}

// The group of a directory that stands for the freezer of cgroup v1, and whose freezer.state is a pipe: a write to it ends
// when it is read.
TEST(Sweep, KillIsPendingBeforeAGroupOfV1IsThawed) {
  std::string path = (std::filesystem::temp_directory_path() / "ares-sweep-XXXXXX").string();
  ASSERT_NE(::mkdtemp(path.data()), nullptr);
  const std::string job = path + "/job";
  std::filesystem::create_directory(job);
  const std::string state = job + "/freezer.state";
  ASSERT_EQ(::mkfifo(state.c_str(), 0600), 0);
  std::ofstream(job + "/cgroup.procs").close();
  auto group = Cgroup::plan(
      "job", {}, {"1 0 0:1 / " + path + " rw - cgroup cgroup rw,freezer\n", "1:freezer:/\n"});
  ASSERT_TRUE(group && group->create() && group->can_freeze());
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  ASSERT_TRUE(group->attach(child));

  std::thread killer([&] { group->kill(); });
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  pid_t ended = 0;
  int status = 0;
  while ((ended = ::waitpid(child, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_EQ(ended, child) << "the group is thawed first";
  EXPECT_EQ(*read_file(state), "THAWED");
  killer.join();
  if (ended == 0) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace ares::os
