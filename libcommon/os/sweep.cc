#include "os/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "os/fd.h"
#include "os/file.h"

namespace ares::os {
namespace {

constexpr int kPasses = 100;  // each pass finds processes forked during the previous one

bool contains_item(const std::string& environment, const std::string& item) {
  for (std::size_t at = 0; (at = environment.find(item, at)) != std::string::npos; ++at) {
    const std::size_t end = at + item.size();
    if ((at == 0 || environment[at - 1] == '\0') &&
        (end == environment.size() || environment[end] == '\0'))
      return true;
  }
  return false;
}

// Empty for a process that has gone, and for a zombie.
std::string pid_namespace_of(const std::string& pid) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + pid + "/ns/pid", error).string();
}

}  // namespace

bool namespace_gone(pid_t init, std::chrono::milliseconds at_most) {
  if (init <= 0) return true;
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  if (!process) return errno == ESRCH;
  // Read after opening the pidfd: the pid cannot have been reused since.
  const std::string its = pid_namespace_of(std::to_string(init));
  if (its.empty() || its == pid_namespace_of("self")) return true;
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(at_most.count())) > 0;
}

void kill_marked(const std::string& variable) {
  for (int pass = 0; pass < kPasses; ++pass) {
    bool found = false;
    Result<std::vector<std::string>> entries = list_directory("/proc");
    if (!entries) return;
    for (const std::string& entry : *entries) {
      const pid_t pid = std::atoi(entry.c_str());
      if (pid <= 1) continue;
      // The environment of a zombie is empty, so killed processes are not found again.
      Result<std::string> environment = read_file("/proc/" + entry + "/environ");
      if (!environment || !contains_item(*environment, variable)) continue;
      found = ::kill(pid, SIGKILL) == 0 || found;
    }
    if (!found) return;
  }
}

void remove_groups(const std::string& directories) {
  std::istringstream items(directories);
  for (std::string directory; std::getline(items, directory, ':');) {
    if (directory.empty()) continue;
    if (Fd kill(::open((directory + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC)); kill)
      (void)!::write(kill.get(), "1", 1);
    // Killed processes take a moment to exit. Wait, because the attempt counts as ended afterwards.
    constexpr int kTries = 5000;
    constexpr useconds_t kPause = 2000;
    for (int i = 0; i < kTries && ::rmdir(directory.c_str()) != 0 && errno == EBUSY; ++i)
      ::usleep(kPause);
  }
}

}  // namespace ares::os
