// OwnGroups: control groups for one test, one in every hierarchy of this machine, with the group `daemon` in each. At the end all
// processes in them are killed and all groups are removed.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "os/file.h"
#include "os/hierarchies.h"

namespace ares::os {

class OwnGroups {
 public:
  OwnGroups() {
    const Result<Hierarchies> all = Hierarchies::of_this_process();
    for (const Hierarchy& h : all ? all->all() : std::vector<Hierarchy>{}) {
      const std::string top = h.own + "/ares-test-" + std::to_string(::getpid());
      usable_ = make(top) && make(top + "/daemon");
      if (!usable_) return;
    }
  }
  ~OwnGroups() {
    for (const std::string& top : tops_) {
      kill_all(top);
      for_each_group(top, [](const std::string& group) {
        // Killed processes take a moment to exit.
        for (int i = 0; i < 1000 && ::rmdir(group.c_str()) != 0 && errno == EBUSY; ++i)
          ::usleep(5000);
      });
    }
  }
  OwnGroups(const OwnGroups&) = delete;
  OwnGroups& operator=(const OwnGroups&) = delete;

  explicit operator bool() const { return usable_ && !tops_.empty(); }
  const std::vector<std::string>& directories() const { return tops_; }

  // Moves the calling process into the groups `daemon`.
  bool enter() const {
    bool all = true;
    for (const std::string& top : tops_) all = put(top + "/daemon/cgroup.procs", "0") && all;
    return all;
  }
  // KILL to all processes in the groups `daemon` and in groups below these, as systemd does it.
  void kill_daemon() const {
    for (const std::string& top : tops_) kill_all(top + "/daemon");
  }
  // All groups but `daemon` that are in them now.
  std::vector<std::string> others() const {
    std::vector<std::string> found;
    for (const std::string& top : tops_)
      for_each_group(top, [&](const std::string& group) {
        if (group != top && group != top + "/daemon") found.push_back(group);
      });
    return found;
  }

 private:
  static bool put(const std::string& file, const std::string& text) {
    const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written =
        fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (fd >= 0) ::close(fd);
    return written;
  }
  bool make(const std::string& group) {
    if (::mkdir(group.c_str(), 0755) != 0) return false;
    if (!group.ends_with("/daemon")) tops_.push_back(group);
    const std::string parent = group.substr(0, group.rfind('/'));
    for (const char* file : {"/cpuset.cpus", "/cpuset.mems"})
      if (const Result<std::string> value = read_file(parent + file);
          value && std::filesystem::exists(group + file))
        put(group + file, value->substr(0, value->find('\n')));
    return ::access((group + "/cgroup.procs").c_str(), W_OK) == 0;
  }
  // Those within a group first.
  static void for_each_group(const std::string& top,
                             const std::function<void(const std::string&)>& act) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(top, error))
      if (entry.is_directory(error)) for_each_group(entry.path(), act);
    act(top);
  }
  static void kill_all(const std::string& top) {
    bool found = true;
    for (int pass = 0; found && pass < 200; ++pass) {
      found = false;
      for_each_group(top, [&](const std::string& group) {
        std::ifstream pids(group + "/cgroup.procs");
        for (pid_t pid = 0; pids >> pid;)
          if (pid > 1 && pid != ::getpid()) found = ::kill(pid, SIGKILL) == 0 || found;
      });
      if (found) ::usleep(5000);
    }
  }

  std::vector<std::string> tops_;
  bool usable_ = false;
};

}  // namespace ares::os
