#include "os/sweep.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

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
  EXPECT_FALSE(namespace_gone(made.init, 20ms)) << "it still runs";
  ::kill(made.init, SIGKILL);
  EXPECT_TRUE(namespace_gone(made.init, 10'000ms));
  EXPECT_TRUE(made.empty());
}

TEST(Sweep, OtherPidsAreNotWaitedFor) {
  EXPECT_TRUE(namespace_gone(0, 0ms));
  EXPECT_TRUE(namespace_gone(::getpid(), 0ms)) << "a reused number: it lives in our own namespace";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(namespace_gone(child, 0ms));
}

}  // namespace
}  // namespace ares::os
