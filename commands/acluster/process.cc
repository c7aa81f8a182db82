#include "acluster/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "os/clock.h"
#include "os/file.h"

namespace ares::acluster {
namespace {

template <class T>
bool read_field(std::string_view text, std::string_view key, T& out) {
  std::size_t at = text.starts_with(key) ? 0 : text.find("\n" + std::string(key) + " ");
  if (at == std::string_view::npos) return false;
  at += at == 0 ? key.size() + 1 : key.size() + 2;
  if (at >= text.size()) return false;
  return std::from_chars(text.data() + at, text.data() + text.size(), out).ec == std::errc();
}

char state_letter(pid_t pid) {
  const auto stat = os::read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return 0;
  const std::size_t name_end = stat->rfind(')');
  return name_end == std::string::npos || name_end + 2 >= stat->size() ? '\0'
                                                                       : (*stat)[name_end + 2];
}

std::optional<ProcessId> read_process(const std::string& path, const char* pid,
                                      const char* start_ticks) {
  const auto text = os::read_file(path);
  ProcessId id;
  if (!text || !read_field(*text, pid, id.pid) || !read_field(*text, start_ticks, id.start_ticks) ||
      id.pid <= 0)
    return std::nullopt;
  return id;
}

// Runs in the new process before exec. Returns only on failure, with the name of the failed step.
const char* become(const Launch& launch, int log, int null) {
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(null, 0) < 0 || ::dup2(log, 1) < 0 || ::dup2(log, 2) < 0) return "dup2";
  for (const std::string& path : launch.namespaces) {
    const os::Fd ns(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!ns || ::setns(ns.get(), 0) != 0) return "enter the node's namespaces";
  }
  if (!launch.record.empty()) {
    const std::string text = "pid " + std::to_string(::getpid()) + "\nstart_ticks " +
                             std::to_string(os::process_start_ticks(::getpid())) + "\n";
    const std::string part = launch.record + ".new";
    const os::Fd file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::rename(part.c_str(), launch.record.c_str()) != 0)
      return "write its record";
  }
  if (launch.user) {
    const os::User& user = *launch.user;
    if (::initgroups(user.name.c_str(), user.gid.value()) != 0 || ::setgid(user.gid.value()) != 0 ||
        ::setuid(user.uid.value()) != 0)
      return "change user";
  }
  if (::chdir(launch.folder.c_str()) != 0) return "change folder";
  std::vector<char*> argv;
  for (const std::string& word : launch.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  return "run";
}

}  // namespace

std::optional<ProcessId> read_record(const std::string& path) {
  return read_process(path, "pid", "start_ticks");
}

std::optional<ProcessId> recorded_reaper(const std::string& path) {
  return read_process(path, "reaper_pid", "reaper_start_ticks");
}

std::string recorded_groups(const std::string& path) {
  constexpr std::string_view kField = "\ncgroups ";
  const auto text = os::read_file(path);
  if (!text) return {};
  const std::size_t at = text->find(kField);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kField.size();
  return text->substr(begin, text->find('\n', begin) - begin);
}

bool alive(const ProcessId& process) {
  if (os::process_start_ticks(process.pid) != process.start_ticks) return false;
  const char state = state_letter(process.pid);
  return state != 0 && state != 'Z' && state != 'X';
}

// Opens the pidfd before comparing the start time, so that it cannot refer to another process with
// the same pid.
os::Fd watch(const ProcessId& process) {
  os::Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  if (!fd || !alive(process)) return os::Fd();
  return fd;
}

bool send_signal(const ProcessId& process, int signal) {
  const os::Fd fd = watch(process);
  return fd && ::syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0) == 0;
}

bool wait_end(const ProcessId& process, std::chrono::milliseconds timeout) {
  const os::Fd fd = watch(process);
  if (!fd) return true;
  pollfd wait{fd.get(), POLLIN, 0};
  return ::poll(&wait, 1, static_cast<int>(timeout.count())) > 0;
}

Result<ProcessId> launch(const Launch& launch) {
  const os::Fd log(::open(launch.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log) return fail(os::errno_error("cannot open " + launch.log));
  const os::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int ends[2];
  if (!null || ::pipe2(ends, O_CLOEXEC) != 0)
    return fail(os::errno_error("cannot start a process"));
  os::Fd from_child(ends[0]), to_parent(ends[1]);

  const pid_t pid = ::fork();
  if (pid < 0) return fail(os::errno_error("cannot start " + launch.argv[0]));
  if (pid == 0) {
    const char* failed = become(launch, log.get(), null.get());
    const std::string text =
        "cannot " + std::string(failed) + " (" + launch.argv[0] + "): " + std::strerror(errno);
    [[maybe_unused]] const ssize_t n = ::write(to_parent.get(), text.data(), text.size());
    ::_exit(127);
  }
  to_parent.reset();
  char text[512];
  const ssize_t size = ::read(from_child.get(), text, sizeof text);
  if (size > 0) {
    ::waitpid(pid, nullptr, 0);
    if (!launch.record.empty()) ::unlink(launch.record.c_str());
    return fail(ErrorCode::failed_precondition, std::string(text, static_cast<std::size_t>(size)));
  }
  return ProcessId{pid, os::process_start_ticks(pid)};
}

}  // namespace ares::acluster
