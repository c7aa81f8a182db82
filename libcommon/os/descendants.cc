#include "os/descendants.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/printable.h"
#include "os/file.h"

namespace ares::os {

namespace {

// Of each process in /proc, without zombies.
std::map<pid_t, pid_t> parents_of_all() {
  std::map<pid_t, pid_t> parents;
  Result<std::vector<std::string>> entries = list_directory("/proc");
  if (!entries) return {};
  for (const std::string& entry : *entries) {
    const pid_t pid = std::atoi(entry.c_str());
    if (pid <= 0) continue;
    Result<std::string> stat = read_file("/proc/" + entry + "/stat");
    if (!stat) continue;
    const std::size_t paren = stat->rfind(')');
    char state = 0;
    int parent = 0;
    if (paren == std::string::npos ||
        std::sscanf(stat->c_str() + paren + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
      continue;
    parents[pid] = parent;
  }
  return parents;
}

}  // namespace

// Found by following the parents of each process.
std::set<pid_t> descendants() {
  const std::map<pid_t, pid_t> parents = parents_of_all();
  const pid_t self = ::getpid();
  std::set<pid_t> result;
  for (const auto& [pid, parent] : parents) {
    pid_t at = parent;
    for (int depth = 0; at > 1 && at != self && depth < 4096; ++depth) {
      auto it = parents.find(at);
      at = it == parents.end() ? 0 : it->second;
    }
    if (at == self) result.insert(pid);
  }
  return result;
}

std::string describe_processes(const std::set<pid_t>& pids, pid_t except) {
  constexpr std::size_t kMost = 5;
  std::string text;
  std::size_t count = 0;
  for (const pid_t pid : pids) {
    if (pid == except) continue;
    const Result<std::string> stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name = stat ? stat->find('(') : std::string::npos;
    const std::size_t end = stat ? stat->rfind(')') : std::string::npos;
    if (name == std::string::npos || end == std::string::npos || end + 2 >= stat->size()) continue;
    if (++count > kMost) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(pid) + " (" +
            printable(stat->substr(name + 1, end - name - 1)) + ", " + (*stat)[end + 2] + ")";
  }
  if (count > kMost) text += " and " + std::to_string(count - kMost) + " more";
  return text;
}

void signal_descendants(int signal, pid_t task) {
  const pid_t script = task > 0 ? script_of(task) : 0;
  for (const pid_t pid : descendants())
    if (pid != task && pid != script) ::kill(pid, signal);
}

pid_t script_of(pid_t task) {
  const auto is_named = [](pid_t pid, const char* name) {
    const Result<std::string> comm = read_file("/proc/" + std::to_string(pid) + "/comm");
    return comm && *comm == std::string(name) + "\n";
  };
  if (!is_named(task, kWaitsForScript)) return task;
  const std::map<pid_t, pid_t> parents = parents_of_all();
  do {
    pid_t child = 0;
    for (const auto& [pid, parent] : parents)
      if (parent == task && !is_named(pid, kHoldsSession)) child = pid;
    if (child == 0) break;
    task = child;
  } while (is_named(task, kWaitsForScript));
  return task;
}

}  // namespace ares::os
