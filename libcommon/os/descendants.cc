#include "os/descendants.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "os/file.h"

namespace ares::os {

// Found by following the parents of each process in /proc.
std::set<pid_t> descendants() {
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

void signal_descendants(int signal, pid_t except) {
  for (const pid_t pid : descendants())
    if (pid != except) ::kill(pid, signal);
}

}  // namespace ares::os
