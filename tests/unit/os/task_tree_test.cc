// Tests: namespace, descendants, ready_groups
#include "os/task_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

#include "os/clock.h"
#include "os/ready_groups.h"
#include "os/sweep.h"

namespace ares::os {
namespace {

constexpr int kNoTest = 99;

// The return value of the function in a child process that is not root.
int without_root(int (*test)()) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::setresgid(kNobody, kNobody, kNobody) != 0) ::_exit(kNoTest);
    if (::geteuid() == 0 && ::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(kNoTest);
    ::prctl(PR_SET_DUMPABLE,
            1);  // as a program that this user starts; else its /proc/self is root's
    ::_exit(test());
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TaskTree::BodyFailure nothing(const std::string&) {
  return {};
}

// A pipe that every process of a task holds, whatever its environment, session and parent are.
struct Held {
  Fd ours, theirs;
  Held() {
    int ends[2];
    if (::pipe(ends) != 0) return;
    ours.reset(ends[0]);
    theirs.reset(ends[1]);
  }
  bool readable(int within_ms) const {
    pollfd look{ours.get(), POLLIN, 0};
    return ::poll(&look, 1, within_ms) > 0;
  }
  // Whether a byte was written before `within_ms`.
  bool beat(int within_ms) const {
    char byte = 0;
    return readable(within_ms) && ::read(ours.get(), &byte, 1) == 1;
  }
  // Reads until nothing is written for `quiet_ms`; false after `within_ms`.
  bool falls_silent(int quiet_ms, int within_ms) const {
    const BootTime deadline = boot_now() + std::chrono::milliseconds(within_ms);
    while (boot_now() < deadline)
      if (!beat(quiet_ms)) return true;
    return false;
  }
  // Reads until no process is left that could write; false after `within_ms`.
  bool ends(int within_ms) const {
    const BootTime deadline = boot_now() + std::chrono::milliseconds(within_ms);
    char bytes[256];
    while (boot_now() < deadline)
      if (readable(50) && ::read(ours.get(), bytes, sizeof bytes) == 0) return true;
    return false;
  }
};

// Leaves a process with an empty environment, its own session and no parent, which writes bytes to
// standard output.
TaskTree::BodyFailure escape(const std::string&) {
  ::execl("/usr/bin/env", "env", "-i", "/bin/sh", "-c",
          "/usr/bin/setsid /bin/sh -c 'while :; do echo; /bin/sleep 0.005; done' & /bin/sleep 100",
          nullptr);
  return {1, "execl"};
}

// Starts a supervisor that runs escape(), calls `then` and does nothing more; returns its pid when the
// task writes. With a `group` the task is in a control group of that name.
pid_t supervise_escape(
    const Held& held, void (*then)(TaskTree&, pid_t init) = [](TaskTree&, pid_t) {},
    const std::string& group = {}) {
  const pid_t supervisor = ::fork();
  if (supervisor != 0) return held.beat(10'000) ? supervisor : -1;
  ::dup2(held.theirs.get(), STDOUT_FILENO);
  TaskTree tree(escape, {namespace_kind(), true},
                group.empty() ? std::nullopt : Cgroup::plan(group, {}));
  const Result<pid_t> init = tree.spawn_gated();
  if (!init) ::_exit(1);
  tree.open_gate();
  then(tree, *init);
  for (;;) ::pause();
}

// Waits until the supervisor has stopped itself, and lets it go on. False if it ends or does something else for 20 s.
bool go_on(pid_t supervisor) {
  const BootTime deadline = boot_now() + std::chrono::seconds(20);
  int status = 0;
  while (::waitpid(supervisor, &status, WUNTRACED | WNOHANG) <= 0) {
    if (boot_now() >= deadline) return false;
    ::usleep(1000);
  }
  return WIFSTOPPED(status) && ::kill(supervisor, SIGCONT) == 0;
}

void end(pid_t supervisor) {
  ::kill(supervisor, SIGKILL);
  while (::waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool becomes_true(const std::function<bool()>& condition) {
  const BootTime deadline = boot_now() + std::chrono::seconds(20);
  while (!condition()) {
    if (boot_now() >= deadline) return false;
    ::usleep(1000);
  }
  return true;
}

// Regression: a task was started without isolation although it could not be stopped at the end of its
// lease.
TEST(TaskTree, DoesNotStartWithoutRequiredIsolation) {
  TaskTree tree(nothing, {NamespaceKind::none, true}, std::nullopt);
  const Result<pid_t> spawned = tree.spawn_gated();
  ASSERT_FALSE(spawned);
  EXPECT_NE(spawned.error().message.find("pid namespace"), std::string::npos);
  EXPECT_TRUE(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD);
}

TEST(TaskTree, StartsWithoutOptionalIsolation) {
  // Only root may make this kind.
  EXPECT_EQ(without_root([] {
              TaskTree tree(nothing, {NamespaceKind::privileged, false}, std::nullopt);
              const Result<pid_t> spawned = tree.spawn_gated();
              const bool said =
                  tree.why_not_isolated() == "cannot make a pid namespace: Operation not permitted";
              return spawned && *spawned > 0 && !tree.isolated() && said ? 0 : 1;
            }),
            0);
}

TEST(TaskTree, PreparedOneRunsWhatItIsToldLater) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  Held held;
  ::fflush(nullptr);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::dup2(held.theirs.get(), STDOUT_FILENO);
    TaskTree tree(
        [](const std::string& order) {
          (void)!::write(STDOUT_FILENO, order.data(), order.size());
          return TaskTree::BodyFailure{3, "on purpose"};
        },
        {namespace_kind(), false}, ReadyGroups().plan(::getpid()));
    if (!tree.prepare()) ::_exit(1);
    tree.assign(true, {.processes = 20});
    const Result<pid_t> init = tree.spawn_gated("abc");
    if (!init || held.readable(100)) ::_exit(2);
    tree.open_gate();
    TaskTree::Events events;
    while (!events.task_end) {
      pollfd look{tree.control_fd(), POLLIN, 0};
      ::poll(&look, 1, -1);
      events = tree.collect();
    }
    ::_exit(events.task_end->code == 3 && events.task_end->detail == "on purpose" ? 0 : 3);
  }
  held.theirs.reset();
  for (const char expected : {'a', 'b', 'c'}) {
    char byte = 0;
    EXPECT_TRUE(held.readable(10'000) && ::read(held.ours.get(), &byte, 1) == 1);
    EXPECT_EQ(byte, expected);
  }
  EXPECT_TRUE(held.ends(10'000));
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  EXPECT_TRUE(becomes_true([&] { return ReadyGroups().remove(supervisor); }));
}

// Regression: the socket of an init that has ended is readable until the kernel has taken the namespace
// down. The supervisor, which has a real-time priority, did nothing but read it meanwhile.
TEST(TaskTree, SocketOfAnInitThatEndsIsReadOnce) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  ::fflush(nullptr);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    TaskTree tree(nothing, {namespace_kind(), false}, std::nullopt);
    if (!tree.spawn_gated()) ::_exit(1);
    tree.open_gate();
    bool killed = false;
    int wakeups = 0;
    for (TaskTree::Events events; !events.gone; events = tree.collect()) {
      if (events.task_end) tree.kill_all();
      killed = killed || events.task_end;
      pollfd look{tree.control_fd(), POLLIN, 0};
      if (::poll(&look, 1, 10) > 0 && killed) ++wakeups;
    }
    ::_exit(wakeups <= 3 ? 0 : 2);
  }
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST(TaskTree, PreparedOneLeavesNothing) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    {
      TaskTree tree(nothing, {namespace_kind(), false}, ReadyGroups().plan(::getpid()));
      if (!tree.prepare()) ::_exit(1);
    }
    for (const std::string& path : ReadyGroups().paths(::getpid()))
      if (::access(path.c_str(), F_OK) == 0) ::_exit(2);
    ::_exit(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 3);
  }
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

// Regression: the destructor waited for all children of the process, also for those that do not belong to the task.
TEST(TaskTree, EndsWithoutWaitingForOtherChildren) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::alarm(60);  // ends it if it waits for the child
    const pid_t other = ::fork();
    if (other == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) ::pause();
    }
    pid_t init = 0;
    {
      TaskTree tree(nothing, {namespace_kind(), true}, std::nullopt);
      const Result<pid_t> spawned = tree.spawn_gated();
      if (!spawned) ::_exit(1);
      init = *spawned;
    }
    const bool ended = ::kill(init, 0) != 0 && errno == ESRCH;
    const bool other_lives = ::waitpid(other, nullptr, WNOHANG) == 0;
    ::_exit(ended && other_lives ? 0 : 2);
  }
  int status = 0;
  while (::waitpid(supervisor, &status, 0) < 0 && errno == EINTR) {
  }
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

// In an attempt, as root or not: what is written to /dev/shm and made of System V is not the machine's.
int has_memory_of_its_own() {
  if (!can_make_namespace(namespace_kind())) return kNoTest;
  const std::string path = "/dev/shm/ares-task-tree-" + std::to_string(::getpid());
  const int machine_queue = ::msgget(IPC_PRIVATE, 0600);
  if (machine_queue < 0) return 2;
  TaskTree tree(
      [&](const std::string&) -> TaskTree::BodyFailure {
        const Fd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
        msqid_ds queue{};
        ::_exit(file && ::msgctl(machine_queue, IPC_STAT, &queue) != 0 ? 7 : 3);
      },
      {namespace_kind(), true}, std::nullopt);
  int code = 4;
  if (tree.spawn_gated()) {
    tree.open_gate();
    for (;;) {
      pollfd look{tree.control_fd(), POLLIN, 0};
      ::poll(&look, 1, 10'000);
      const TaskTree::Events events = tree.collect();
      if (events.task_end) code = events.task_end->code;
      if (events.task_end || events.gone) break;
    }
  }
  ::msgctl(machine_queue, IPC_RMID, nullptr);
  if (::unlink(path.c_str()) == 0) return 5;
  return code == 7 ? 0 : code;
}

TEST(TaskTree, SharedMemoryAndQueuesAreItsOwn) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  EXPECT_EQ(has_memory_of_its_own(), 0);
}

TEST(TaskTree, SharedMemoryAndQueuesAreItsOwnWithoutRoot) {
  const int result = without_root(has_memory_of_its_own);
  if (result == kNoTest) GTEST_SKIP() << "needs unprivileged user namespaces";
  EXPECT_EQ(result, 0);
}

// What a supervisor leaves that is killed while it waits.
TEST(TaskTree, LeftGroupsOfDeadProcessesAreRemoved) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  int pair[2];
  ASSERT_EQ(::pipe(pair), 0);
  Fd ready(pair[0]);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    TaskTree tree(nothing, {namespace_kind(), false}, ReadyGroups().plan(::getpid()));
    if (!tree.prepare()) ::_exit(1);
    (void)!::write(pair[1], "r", 1);
    for (;;) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ready.get(), &byte, 1), 1);
  ::close(pair[1]);
  const auto left = [&] {
    int number = 0;
    for (const std::string& path : ReadyGroups().paths(supervisor))
      if (::access(path.c_str(), F_OK) == 0) ++number;
    return number;
  };
  const int made = left();
  ReadyGroups().remove_left();
  EXPECT_EQ(left(), made) << "it lives";
  end(supervisor);
  EXPECT_TRUE(becomes_true([&] {
    ReadyGroups().remove_left();
    return left() == 0;
  }));
}

// Regression: without root a killed supervisor left all processes that had cleared their environment.
TEST(TaskTree, NoProcessOutlivesAKilledSupervisorWithoutRoot) {
  const int result = without_root([] {
    if (!can_make_namespace(NamespaceKind::unprivileged)) return kNoTest;
    Held held;
    const pid_t supervisor = supervise_escape(held);
    held.theirs.reset();
    if (supervisor < 0) return 1;
    ::kill(supervisor, SIGKILL);
    return held.ends(10'000) ? 0 : 2;
  });
  if (result == kNoTest) GTEST_SKIP() << "needs unprivileged user namespaces";
  EXPECT_EQ(result, 0);
}

// Regression: with its supervisor stopped, a job ran on after the end of its lease.
TEST(TaskTree, InitStopsEverythingWhileTheSupervisorIsStopped) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  Held held;
  const pid_t supervisor = supervise_escape(held, [](TaskTree& tree, pid_t) {
    ::raise(SIGSTOP);  // until the task runs, however long its start takes
    tree.stop_at(boot_now() + std::chrono::milliseconds(300));
    ::raise(SIGSTOP);
    tree.thaw();
  });
  held.theirs.reset();
  ASSERT_GT(supervisor, 0);
  ASSERT_TRUE(go_on(supervisor));
  EXPECT_TRUE(held.falls_silent(1000, 20'000));
  ::kill(supervisor, SIGCONT);
  EXPECT_TRUE(held.beat(10'000)) << "it goes on when the supervisor says so";
  end(supervisor);
  EXPECT_TRUE(held.ends(10'000));
}

// Regression: the supervisor waited for ever when the socket to an init that did not run was full.
TEST(TaskTree, SignalsPassAnInitThatDoesNotRun) {
  if (!can_make_namespace(namespace_kind())) GTEST_SKIP() << "needs a pid namespace";
  Held held;
  const pid_t supervisor = supervise_escape(held, [](TaskTree& tree, pid_t init) {
    ::raise(SIGSTOP);
    ::kill(init, SIGSTOP);
    constexpr int kMoreThanItsSocketHolds = 400;
    for (int i = 0; i < kMoreThanItsSocketHolds; ++i) tree.signal(SIGURG, TaskTree::To::all);
    if (tree.signal(SIGURG, TaskTree::To::task)) ::_exit(1);  // only init knows the task
    tree.signal(SIGKILL, TaskTree::To::all);
    ::raise(SIGSTOP);
  });
  held.theirs.reset();
  ASSERT_GT(supervisor, 0);
  EXPECT_TRUE(go_on(supervisor));
  EXPECT_TRUE(go_on(supervisor)) << "it waits, or says that a signal arrived that did not";
  EXPECT_TRUE(held.falls_silent(1000, 20'000));
  end(supervisor);
  EXPECT_TRUE(held.ends(10'000));
}

// Regression: the control group was thawed before KILL was sent, which init had to send, frozen itself.
TEST(TaskTree, KillIsPendingBeforeFrozenProcessesRunAgain) {
  const std::string group = "ares-tree-" + std::to_string(::getpid());
  {
    auto tried = Cgroup::plan(group, {});
    if (!tried || !tried->create() || !tried->can_freeze() || !can_make_namespace(namespace_kind()))
      GTEST_SKIP() << "needs a pid namespace and a freezer";
  }
  Held held;
  const pid_t supervisor = supervise_escape(
      held,
      [](TaskTree& tree, pid_t init) {
        ::raise(SIGSTOP);
        ::kill(init, SIGSTOP);
        if (!tree.freeze()) ::_exit(1);
        ::raise(SIGSTOP);
        tree.signal(SIGKILL, TaskTree::To::all);
        tree.thaw();
      },
      group);
  held.theirs.reset();
  ASSERT_GT(supervisor, 0);
  EXPECT_TRUE(go_on(supervisor));
  EXPECT_TRUE(held.falls_silent(500, 20'000));
  EXPECT_TRUE(go_on(supervisor));
  EXPECT_FALSE(held.beat(1000));
  end(supervisor);
  EXPECT_TRUE(held.ends(10'000));
  remove_groups(Cgroup::plan(group, {})->directories());
}

TEST(TaskTree, JobWithoutRootKeepsItsUserAndSeesOnlyItsOwnProcesses) {
  const int result = without_root([] {
    if (!can_make_namespace(NamespaceKind::unprivileged)) return kNoTest;
    Held held;
    const std::string expected = std::to_string(::geteuid()) + ":" + std::to_string(::getegid());
    ::dup2(held.theirs.get(), STDOUT_FILENO);
    TaskTree tree(
        [](const std::string&) {
          ::execl("/bin/sh", "sh", "-c",
                  "echo $(id -u):$(id -g); cat /proc/$$/comm; ls -d /proc/[0-9]* | wc -l; echo .",
                  nullptr);
          return TaskTree::BodyFailure{1, "execl"};
        },
        {NamespaceKind::unprivileged, true}, std::nullopt);
    if (!tree.spawn_gated()) return 1;
    tree.open_gate();
    std::string text;
    char byte = 0;
    while (byte != '.' && held.readable(10'000) && ::read(held.ours.get(), &byte, 1) == 1)
      text += byte;
    if (!text.starts_with(expected + "\nsh\n")) return 2;
    return std::stoi(text.substr(expected.size() + 4)) < 10 ? 0 : 3;
  });
  if (result == kNoTest) GTEST_SKIP() << "needs unprivileged user namespaces";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace ares::os
