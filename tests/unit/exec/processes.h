// What a test sees in /proc and in the control groups of the processes that it started. Stateless
// functions; any thread.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "os/file.h"
#include "os/ready_groups.h"

namespace ares::exec {

// 0 if it does not exist. A zombie has one.
inline pid_t parent_of(pid_t pid) {
  const std::string text = os::read_file("/proc/" + std::to_string(pid) + "/stat").value_or("");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string state;
  pid_t parent = 0;
  fields >> state >> parent;
  return parent;
}

inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const std::string& name : os::list_directory("/proc").value_or(std::vector<std::string>{}))
    if (const pid_t pid = std::atoi(name.c_str()); pid > 0 && parent_of(pid) == parent)
      found.push_back(pid);
  return found;
}

// With spaces; empty for a zombie.
inline std::string command_of(pid_t pid) {
  std::string text = os::read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
  for (char& c : text)
    if (c == '\0') c = ' ';
  return text;
}

inline bool alive(std::int64_t pid) {
  return pid > 0 && !command_of(static_cast<pid_t>(pid)).empty();
}

// The fork server that this process has started; 0 if there is none.
inline pid_t fork_server() {
  for (const pid_t pid : children_of(::getpid()))
    if (command_of(pid).find(" --serve ") != std::string::npos) return pid;
  return 0;
}

// Of those groups that a supervisor with this pid makes ahead: those that exist.
inline std::vector<std::string> ready_groups_of(pid_t pid) {
  std::vector<std::string> found;
  for (const std::string& path : os::ReadyGroups().paths(pid))
    if (std::filesystem::exists(path)) found.push_back(path);
  return found;
}

}  // namespace ares::exec
