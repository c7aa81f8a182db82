// Limits that the kernel keeps, in real control groups that are removed again.
#include "os/limit_groups.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "os/cgroup.h"

namespace ares::os {
namespace {

// What the function returns in a process that is held to the limits; -1: it was killed.
class Held {
 public:
  explicit Held(Limits limits)
      : group_(Cgroup::plan("ares-limits-" + std::to_string(::getpid()), std::move(limits))) {
    if (group_ && !group_->create()) group_.reset();
  }
  explicit operator bool() const { return group_.has_value(); }
  const LimitGroups& limits() const { return group_->limits(); }
  std::string directories() const { return group_->directories(); }

  int run(const std::function<int()>& job) {
    int gate[2];
    if (::pipe(gate) != 0) return -2;
    const pid_t child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(gate[1]);
      if (::read(gate[0], &byte, 1) != 1) ::_exit(98);
      ::_exit(job());
    }
    const Status attached = group_->attach(child);
    EXPECT_TRUE(attached) << (attached ? "" : attached.error().message);
    (void)!::write(gate[1], "g", 1);
    ::close(gate[0]);
    ::close(gate[1]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  std::optional<Cgroup> group_;
};

std::uint32_t first_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::uint32_t cpu = 0;
  while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set)) ++cpu;
  return cpu;
}

// Number of CPUs after asking for all.
int widen() {
  cpu_set_t set;
  std::fill_n(reinterpret_cast<unsigned char*>(&set), sizeof set, 0xff);
  ::sched_setaffinity(0, sizeof set, &set);
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

int count_forks() {
  int forked = 0;
  for (; forked < 90; ++forked) {
    const pid_t pid = ::fork();
    if (pid < 0) break;
    if (pid == 0)
      for (;;) ::pause();
  }
  ::signal(SIGTERM, SIG_IGN);
  ::kill(0, SIGTERM);
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  return forked;
}

TEST(LimitGroups, CpusCannotBeWidened) {
  Held held({.cpus = {first_cpu()}, .cpu_count = 1});
  if (!held || !held.limits().keeps_cpus()) GTEST_SKIP() << "no cpuset that we may use";
  EXPECT_EQ(held.run(widen), 1);
}

TEST(LimitGroups, CpusThatTheMachineLacksAreLeftOut) {
  Held held({.cpus = {first_cpu(), 4000}});
  if (!held || !held.limits().keeps_cpus()) GTEST_SKIP() << "no cpuset that we may use";
  EXPECT_EQ(held.run(widen), 1);
  Held none({.cpus = {4000}});
  EXPECT_TRUE(!none || !none.limits().keeps_cpus());
}

int mems_of_own_cpuset() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line == "Mems_allowed_list:\t0") return 0;
  return 1;
}

TEST(LimitGroups, MemoryIsKeptOnItsNodes) {
  Held held({.cpus = {first_cpu()}, .memory_nodes = {0, 4000}});
  if (!held || !held.limits().keeps_cpus()) GTEST_SKIP() << "no cpuset here";
  EXPECT_EQ(held.run(mems_of_own_cpuset), 0) << "nodes that the machine lacks are left out";
  Held nowhere({.cpus = {first_cpu()}, .memory_nodes = {4000}});
  ASSERT_TRUE(nowhere);
  EXPECT_TRUE(nowhere.limits().keeps_cpus()) << "without any of its nodes it may use all";
}

TEST(LimitGroups, ProcessesAreCounted) {
  Held held({.processes = 30});
  if (!held || !held.limits().limits_processes()) GTEST_SKIP() << "no pids controller to use";
  const int forked = held.run([] {
    ::setpgid(0, 0);
    return count_forks();
  });
  EXPECT_EQ(forked, 29) << "and the process itself";
}

TEST(LimitGroups, MemoryBeyondTheLimitIsAnEndThatIsNoticed) {
  Held held({.memory = Bytes::mib(32)});
  if (!held || !held.limits().limits_memory()) GTEST_SKIP() << "no memory controller to use";
  EXPECT_EQ(held.run([] { return 0; }), 0);
  EXPECT_FALSE(held.limits().ran_out_of_memory());
  EXPECT_EQ(held.run([] {
    constexpr std::size_t kSize = std::size_t{128} << 20;
    void* all = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::fill_n(static_cast<volatile char*>(all), kSize, 'x');
    return 0;
  }),
            -1);
  EXPECT_TRUE(held.limits().ran_out_of_memory());
}

TEST(LimitGroups, DeniedDevicesCannotBeOpened) {
  Held held({.denied_devices = {"c 1:7"}});
  if (!held || !held.limits().denies_devices()) GTEST_SKIP() << "no devices controller to use";
  const auto can_open = [](const char* path) { return ::open(path, O_RDONLY | O_CLOEXEC) >= 0; };
  EXPECT_EQ(held.run([&] {
    if (can_open("/dev/full")) return 1;
    return can_open("/dev/zero") ? 0 : 2;
  }),
            0);
  EXPECT_TRUE(can_open("/dev/full")) << "outside of the group";
}

// Runs the function in a process that has entered the groups before its limits were known.
int run_limited_later(const Limits& limits, const std::function<int()>& job,
                      const std::function<void(const LimitGroups&)>& look = {}) {
  std::string directories;
  int result = -3;
  {
    const Result<Hierarchies> hierarchies = Hierarchies::of_this_process();
    if (!hierarchies) return result;
    auto group = Cgroup::plan_ahead("ares-ahead-" + std::to_string(::getpid()), *hierarchies);
    if (!group || !group->create_ahead()) return result;
    directories = group->directories();
    int gate[2];
    if (::pipe(gate) != 0) return -2;
    const pid_t child = ::fork();
    if (child == 0) {
      char byte = 0;
      ::close(gate[1]);
      if (::read(gate[0], &byte, 1) != 1) ::_exit(98);
      ::_exit(job());
    }
    EXPECT_TRUE(group->attach(child));
    const Status limited = group->limit(limits, child);
    EXPECT_TRUE(limited) << (limited ? "" : limited.error().message);
    (void)!::write(gate[1], "g", 1);
    ::close(gate[0]);
    ::close(gate[1]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (look) look(group->limits());
  }
  std::istringstream paths(directories);
  for (std::string path; std::getline(paths, path, ':');)
    EXPECT_NE(::access(path.c_str(), F_OK), 0) << path << " is left";
  return result;
}

TEST(LimitGroups, CpusAreKeptThatBecameKnownLater) {
  const Held probe({.cpus = {first_cpu()}});
  if (!probe || !probe.limits().keeps_cpus()) GTEST_SKIP() << "no cpuset that we may use";
  EXPECT_EQ(run_limited_later({.cpus = {first_cpu()}, .cpu_count = 1}, widen), 1);
}

TEST(LimitGroups, ProcessesAreCountedWhoseLimitBecameKnownLater) {
  const Held probe({.processes = 30});
  if (!probe || !probe.limits().limits_processes()) GTEST_SKIP() << "no pids controller to use";
  EXPECT_EQ(run_limited_later({.processes = 30},
                              [] {
                                ::setpgid(0, 0);
                                return count_forks();
                              }),
            29);
}

TEST(LimitGroups, MemoryIsLimitedThatBecameKnownLater) {
  const Held probe({.memory = Bytes::mib(32)});
  if (!probe || !probe.limits().limits_memory()) GTEST_SKIP() << "no memory controller to use";
  EXPECT_EQ(run_limited_later(
                {.memory = Bytes::mib(32)},
                [] {
                  constexpr std::size_t kSize = std::size_t{128} << 20;
                  void* all = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                  std::fill_n(static_cast<volatile char*>(all), kSize, 'x');
                  return 0;
                },
                [](const LimitGroups& limits) { EXPECT_TRUE(limits.ran_out_of_memory()); }),
            -1);
}

// Groups for them are not made ahead.
TEST(LimitGroups, DevicesAreDeniedThatBecameKnownLater) {
  const Held probe({.denied_devices = {"c 1:7"}});
  if (!probe || !probe.limits().denies_devices()) GTEST_SKIP() << "no devices controller to use";
  EXPECT_EQ(run_limited_later({.denied_devices = {"c 1:7"}},
                              [] { return ::open("/dev/full", O_RDONLY | O_CLOEXEC) < 0 ? 0 : 1; }),
            0);
}

TEST(LimitGroups, NothingLimitsWhatHasNoLimits) {
  if (run_limited_later({}, [] { return 7; }) == -3) GTEST_SKIP() << "no control groups to use";
  EXPECT_EQ(run_limited_later({}, [] { return 7; }), 7);
}

TEST(LimitGroups, NothingIsLeft) {
  std::string directories;
  {
    Held held({.memory = Bytes::mib(32), .cpus = {first_cpu()}, .cpu_count = 1, .processes = 30});
    if (!held) GTEST_SKIP() << "no control groups that we may use";
    directories = held.directories();
    held.run([] { return 0; });
  }
  for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = directories.find(':', at);
    EXPECT_NE(::access(directories.substr(at, end - at).c_str(), F_OK), 0)
        << directories.substr(at, end - at);
  }
}

}  // namespace
}  // namespace ares::os
