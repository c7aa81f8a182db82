#include "os/enforced.h"

#include <sched.h>
#include <unistd.h>

#include <optional>

#include "os/cgroup.h"

namespace ares::os {
namespace {

// Each kind of limit. No process enters the groups, so the amounts do not matter.
Limits one_of_each() {
  Limits limits;
  limits.memory = Bytes::gib(1);
  limits.processes = 1000;
  limits.denied_devices = {"c 195:254"};
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) limits.cpus.push_back(cpu);
  // As many as it has CPUs: a set that holds it to them needs no limit of time beside it.
  limits.cpu_count = static_cast<std::uint32_t>(limits.cpus.size());
  return limits;
}

}  // namespace

std::string enforced_limits(const Hierarchies& hierarchies) {
  std::optional<Cgroup> probe =
      Cgroup::plan("ares.probe." + std::to_string(::getpid()), one_of_each(), hierarchies);
  if (!probe || !probe->create()) return "none";
  const LimitGroups& limits = probe->limits();
  std::string list;
  const auto add = [&list](bool kept, const char* word) {
    if (kept) list += (list.empty() ? "" : ",") + std::string(word);
  };
  add(limits.keeps_cpus(), "cpus");
  add(limits.limits_cpu_time(), "cpu-time");
  add(limits.limits_memory(), "memory");
  add(limits.limits_processes(), "processes");
  add(limits.denies_devices(), "devices");
  return list.empty() ? "none" : list;
}

}  // namespace ares::os
