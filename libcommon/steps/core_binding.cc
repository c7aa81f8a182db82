#include "steps/core_binding.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace ares::steps {
namespace {

struct Core {
  std::vector<std::uint32_t> cpus;  // of the step, that no task has
  std::uint32_t tasks = 0;
};
using Socket = std::vector<Core>;

// The sockets by their numbers, and the cores of each.
std::map<std::uint32_t, Socket> sockets_of(const CpuLayout& layout,
                                           const std::set<std::uint32_t>& cpus) {
  std::map<std::uint32_t, Socket> sockets;
  for (const CpuLayout::Core& core : layout.cores()) {
    Core own;
    for (const std::uint32_t cpu : core.cpus)
      if (cpus.contains(cpu)) own.cpus.push_back(cpu);
    if (!own.cpus.empty()) sockets[core.package].push_back(std::move(own));
  }
  return sockets;
}

// The CPUs of one more task on the socket; none: it has no room.
IntervalSet take_task(Socket& socket, const SharedCores& wanted) {
  const auto open = [&](const Core& core) {
    return !core.cpus.empty() && (wanted.tasks_per_core == 0 || core.tasks < wanted.tasks_per_core);
  };
  std::size_t room = 0;
  for (const Core& core : socket) room += open(core) ? core.cpus.size() : 0;
  IntervalSet taken;
  if (room < wanted.cpus_per_task) return taken;
  std::uint32_t left = wanted.cpus_per_task;
  for (Core& core : socket) {
    if (left == 0 || !open(core)) continue;
    ++core.tasks;
    for (; left > 0 && !core.cpus.empty(); --left) {
      taken.insert(core.cpus.front());
      core.cpus.erase(core.cpus.begin());
    }
  }
  return taken;
}

std::string limits_text(const SharedCores& wanted) {
  std::string text;
  if (wanted.tasks_per_socket != 0)
    text = "--ntasks-per-socket=" + std::to_string(wanted.tasks_per_socket);
  if (wanted.tasks_per_core != 0)
    text += std::string(text.empty() ? "" : " and ") +
            "--ntasks-per-core=" + std::to_string(wanted.tasks_per_core);
  return text;
}

}  // namespace

Result<std::vector<IntervalSet>> cpus_of_tasks(const SharedCores& wanted, const CpuLayout& layout,
                                               const std::vector<std::uint32_t>& cpus) {
  const auto refuse = [&](const std::string& why) {
    return fail(ErrorCode::failed_precondition, limits_text(wanted) + ": " + why);
  };
  if (layout.empty() || cpus.empty())
    return refuse("it is not known which cores and sockets the step has here");
  for (const std::uint32_t cpu : cpus)
    if (!layout.core_of(cpu))
      return refuse("CPU " + std::to_string(cpu) + " of the job is not one of this machine");
  auto sockets = sockets_of(layout, {cpus.begin(), cpus.end()});
  std::vector<IntervalSet> tasks;
  for (auto& [number, socket] : sockets) {
    const std::size_t begin = tasks.size();
    while (tasks.size() < wanted.tasks &&
           (wanted.tasks_per_socket == 0 || tasks.size() - begin < wanted.tasks_per_socket)) {
      IntervalSet taken = take_task(socket, wanted);
      if (taken.empty()) break;
      tasks.push_back(std::move(taken));
    }
  }
  if (tasks.size() < wanted.tasks)
    return refuse("the CPUs of the step here, on " + std::to_string(sockets.size()) +
                  (sockets.size() == 1 ? " socket" : " sockets") + ", hold " +
                  std::to_string(tasks.size()) + " of its " + std::to_string(wanted.tasks) +
                  (wanted.tasks == 1 ? " task" : " tasks") + " so");
  return tasks;
}

}  // namespace ares::steps
