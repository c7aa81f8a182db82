// What a process is bound to. Each case runs in a process of its own, because a binding stays.
#include "aresstepd/bind_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/interval_set.h"
#include "os/file.h"

namespace ares::stepd {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

IntervalSet set(const std::string& text) {
  return parse_interval_set(text).value();
}

IntervalSet own_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  ::sched_getaffinity(0, sizeof mask, &mask);
  IntervalSet cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
  return cpus;
}

// The policy of new memory, as "default", "bind:0" or "prefer (many):0".
std::string own_policy() {
  void* fresh = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<char*>(fresh) = 1;
  char address[32];
  std::snprintf(address, sizeof address, "%lx ", reinterpret_cast<unsigned long>(fresh));
  std::ifstream maps("/proc/self/numa_maps");
  for (std::string line; std::getline(maps, line);)
    if (line.starts_with(address)) return line.substr(std::string_view(address).size());
  return "none";
}

struct Outcome {
  std::string lines, cpus, policy;
};

// What a child of this process is bound to afterwards.
Outcome bound(const node::StepSpec& spec) {
  int channel[2];
  EXPECT_EQ(::pipe(channel), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string lines = bind_task(spec);
    const std::string all =
        lines + "\f" + format_interval_set(own_cpus()) + "\f" + own_policy() + "\f";
    ::_exit(::write(channel[1], all.data(), all.size()) == static_cast<ssize_t>(all.size()) ? 0
                                                                                            : 1);
  }
  ::close(channel[1]);
  std::string all;
  char buffer[4096];
  for (ssize_t n; (n = ::read(channel[0], buffer, sizeof buffer)) > 0;)
    all.append(buffer, static_cast<std::size_t>(n));
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::size_t first = all.find('\f'), second = all.find('\f', first + 1);
  return {all.substr(0, first), all.substr(first + 1, second - first - 1),
          all.substr(second + 1, all.size() - second - 2)};
}

node::StepSpec spec_with(const IntervalSet& cpus, node::StepBinding binding = {}) {
  node::StepSpec spec;
  spec.launch.spec = std::make_shared<const JobSpec>();
  spec.launch.share.cpu_ids = {cpus.begin(), cpus.end()};
  spec.binding = std::move(binding);
  return spec;
}

std::string lowest() {
  return std::to_string(own_cpus().front());
}

TEST(BindTask, AffinityIsThatOfTheUsableCpus) {
  EXPECT_EQ(bound(spec_with(own_cpus())).cpus, format_interval_set(own_cpus()));
  node::StepBinding binding;
  binding.usable_cpus = set(lowest());
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).cpus, lowest());
  EXPECT_EQ(bound(spec_with(set("60000"))).cpus, format_interval_set(own_cpus()))
      << "the machine lacks this CPU";
}

TEST(BindTask, ScriptMayHaveFewerCpusOrNoAffinity) {
  node::StepBinding binding;
  binding.script_cpus = set(lowest());
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).cpus, lowest());
  binding.unbound = true;
  binding.script_cpus = {};
  binding.usable_cpus = set(lowest());
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).cpus, format_interval_set(own_cpus()));
}

TEST(BindTask, MemoryComesFromTheNodesOfThePolicy) {
  if (own_policy() == "none") GTEST_SKIP() << "the kernel has no NUMA";
  node::StepBinding binding;
  EXPECT_THAT(bound(spec_with(own_cpus(), binding)).policy, StartsWith("default"));
  binding.memory_nodes = set("0");
  binding.policy = node::MemoryPolicy::bind;
  EXPECT_THAT(bound(spec_with(own_cpus(), binding)).policy, StartsWith("bind"));
  binding.policy = node::MemoryPolicy::prefer;
  EXPECT_THAT(bound(spec_with(own_cpus(), binding)).policy, StartsWith("prefer"));
}

TEST(BindTask, UserIsToldWhatTheKernelRefuses) {
  if (std::ifstream("/sys/devices/system/node/node1000/cpulist")) GTEST_SKIP();
  node::StepBinding binding;
  binding.memory_nodes = set("1000");
  binding.policy = node::MemoryPolicy::bind;
  EXPECT_THAT(
      bound(spec_with(own_cpus(), binding)).lines,
      HasSubstr("cannot take memory from NUMA node 1000: Invalid argument; --mem-bind has no "
                "effect\n"));
  binding.policy = node::MemoryPolicy::prefer;
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).lines, "") << "the user did not ask for it";
}

TEST(BindTask, NotesAndTheBindingAreToldOnDemand) {
  node::StepBinding binding;
  binding.notes = {"a note"};
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).lines, "a note\n");
  binding.verbose = true;
  binding.script_cpus = set(lowest());
  EXPECT_EQ(bound(spec_with(own_cpus(), binding)).lines, "a note\nbound: CPUs " + lowest() + "\n");
}

}  // namespace
}  // namespace ares::stepd
