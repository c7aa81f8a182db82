#include "os/sweep.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "os/clock.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/groups/step_groups.h"

namespace ares::os {
namespace {

constexpr int kPasses = 100;  // each pass finds processes forked during the previous one

std::vector<std::string> split(const std::string& directories) {
  std::vector<std::string> result;
  std::istringstream items(directories);
  for (std::string directory; std::getline(items, directory, ':');)
    if (!directory.empty()) result.push_back(directory);
  return result;
}

bool contains_item(const std::string& environment, const std::string& item) {
  for (std::size_t at = 0; (at = environment.find(item, at)) != std::string::npos; ++at) {
    const std::size_t end = at + item.size();
    if ((at == 0 || environment[at - 1] == '\0') &&
        (end == environment.size() || environment[end] == '\0'))
      return true;
  }
  return false;
}

// not_found for a process that has gone, and for a zombie.
Result<std::string> pid_namespace_of(const std::string& pid) {
  const std::string path = "/proc/" + pid + "/ns/pid";
  char name[64];
  const ssize_t size = ::readlink(path.c_str(), name, sizeof name);
  if (size < 0) return fail(errno_error(path, errno == ESRCH ? ENOENT : errno));
  return std::string(name, static_cast<std::size_t>(size));
}

// By cgroup.kill, which cgroup v2 has since Linux 5.14. It ends frozen processes too.
void kill_group_v2(const std::string& directory) {
  if (Fd kill(::open((directory + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC)); kill)
    (void)!::write(kill.get(), "1", 1);
}

// A process that the freezer of cgroup v1 holds gets its signals when it is thawed. They are sent first, so that it executes no more of
// its program.
void kill_frozen_group_v1(const std::string& directory) {
  const std::string state = directory + "/freezer.state";
  if (::access(state.c_str(), W_OK) != 0) return;
  if (const Result<std::string> processes = read_file(directory + "/cgroup.procs"); processes) {
    std::istringstream pids(*processes);
    for (pid_t pid = 0; pids >> pid;)
      if (pid > 1) ::kill(pid, SIGKILL);
  }
  if (const Fd thaw(::open(state.c_str(), O_WRONLY | O_CLOEXEC)); thaw)
    (void)!::write(thaw.get(), "THAWED", 6);
}

// Whether a process that exists is another one than that which had this pid.
bool reused(pid_t pid, std::uint64_t start_ticks) {
  const std::uint64_t ticks = start_ticks == 0 ? 0 : process_start_ticks(pid);
  return ticks != 0 && ticks != start_ticks;
}

}  // namespace

bool namespace_gone(pid_t init, std::uint64_t start_ticks, std::chrono::milliseconds at_most) {
  if (init <= 0) return true;
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, init, 0)));
  if (!process) return errno == ESRCH;
  if (reused(init, start_ticks)) return true;
  // Read after opening the pidfd: the pid cannot have been reused since.
  const Result<std::string> its = pid_namespace_of(std::to_string(init));
  if (!its && its.error().code == ErrorCode::not_found) return true;
  const Result<std::string> ours = pid_namespace_of("self");
  if (its && ours && *its == *ours) return true;
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, static_cast<int>(at_most.count())) > 0;
}

bool process_gone(pid_t pid, std::uint64_t start_ticks) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return errno == ESRCH;
  if (reused(pid, start_ticks)) return true;
  pollfd ended{process.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) > 0;
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

void kill_groups(const std::string& directories) {
  for (const std::string& directory : split(directories)) {
    kill_group_v2(directory);
    kill_frozen_group_v1(directory);
  }
}

void remove_groups(const std::string& directories) {
  bool left = false;  // mostly none, because supervisors remove them
  for (const std::string& directory : split(directories))
    if (!remove_group(directory) && errno != ENOENT) left = true;
  if (!left) return;
  kill_groups(directories);
  // Killed processes take a moment to exit. Wait, because the attempt counts as ended afterwards.
  constexpr int kTries = 5000;
  constexpr useconds_t kPause = 2000;
  for (const std::string& directory : split(directories))
    for (int i = 0; i < kTries && !remove_group(directory) && errno == EBUSY; ++i) ::usleep(kPause);
}

void remove_left_groups(const std::string& parent) {
  const Result<std::vector<std::string>> names = list_directory(parent);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with("ares.")) continue;
    const char* const end = name.data() + name.size();
    pid_t maker = 0;
    const auto [rest, error] = std::from_chars(name.data() + name.rfind('.') + 1, end, maker);
    if (error == std::errc() && rest == end && maker > 0 && process_gone(maker, 0))
      remove_group(parent + "/" + name);
  }
}

}  // namespace ares::os
