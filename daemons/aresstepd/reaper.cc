#include "aresstepd/reaper.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "exec/baremetal/file_spool.h"
#include "os/clock.h"
#include "os/descendants.h"

namespace ares::stepd {
namespace {

// Between two searches of /proc for processes to kill.
constexpr Duration kFirstPause = std::chrono::milliseconds(10);
constexpr Duration kLongestPause = std::chrono::seconds(1);

// As in the supervisor: these signals end an aresd, but not what it has started.
void ignore_endings() {
  sigset_t ignored;
  ::sigemptyset(&ignored);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&ignored, signal);
  ::sigaddset(&ignored, SIGCHLD);  // waited for
  ::sigprocmask(SIG_BLOCK, &ignored, nullptr);
}

int cannot(const char* what) {
  const std::string reason = os::errno_error(std::string("cannot ") + what).message;
  std::fprintf(stderr, "aresstepd: %s\n", reason.c_str());
  return 1;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

enum class Children { none, same, fewer };

Children reap() {
  Children result = Children::same;
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return Children::none;
    if (pid <= 0) return result;
    result = Children::fewer;
  }
}

void wait_for_end_of_child(Duration at_most) {
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  const timespec limit = {at_most / Seconds(1), at_most % Seconds(1) / Duration(1) * 1000};
  ::sigtimedwait(&ends, nullptr, &limit);
}

// Returns when no child is left; orphans become our children. What has been killed and still exists cannot end now, or may
// not be killed by this user: it is looked for less and less often, until a child ends.
void end_orphans() {
  Duration pause = kFirstPause;
  BootTime kill_at = os::boot_now();
  for (;;) {
    const Children left = reap();
    if (left == Children::none) return;
    if (left == Children::fewer) {
      kill_at = std::min(kill_at, os::boot_now() + kFirstPause);
      pause = kFirstPause;
    }
    if (os::boot_now() >= kill_at) {
      os::signal_descendants(SIGKILL);  // repeated: they may have forked
      kill_at = os::boot_now() + pause;
      pause = std::min(2 * pause, kLongestPause);
    }
    wait_for_end_of_child(std::max(kill_at - os::boot_now(), Duration(1)));
  }
}

// Whether the directory still belongs to the attempt that it is named after, and a child of ours
// supervised it.
bool was_ours(const node::AttemptDir& dir, const std::string& path) {
  const Result<std::string> intent_text = dir.read(node::Record::intent);
  const Result<std::string> started_text = dir.read(node::Record::started);
  if (!intent_text || !started_text) return false;
  const Result<node::IntentRecord> intent = node::decode_intent(*intent_text);
  const Result<node::StartedRecord> started = node::decode_started(*started_text);
  return intent && node::directory_name(intent->attempt) == path.substr(path.rfind('/') + 1) &&
         started && started->reaper_pid == ::getpid() &&
         started->reaper_start_ticks == os::process_start_ticks(::getpid());
}

// Under the attempt's lock, because directories are reused: another attempt may have this one by now.
Status record_gone(const std::string& path) {
  Result<os::RecordDir> opened = os::RecordDir::open(path);
  if (!opened) return opened.error().code == ErrorCode::not_found ? Status{} : fail(opened.error());
  exec::FileAttemptDir dir(std::move(*opened));
  const Result<bool> locked = dir.lock();
  if (!locked) return fail(locked.error());
  if (!*locked || !was_ours(dir, path)) return {};
  if (!dir.has(node::Record::go) || dir.has(node::Record::exit)) return {};
  return dir.create(node::Record::gone, encode(node::GoneRecord{"reaper", os::wall_now()}));
}

}  // namespace

int run_under_reaper(const std::string& directory, int channel,
                     const std::function<int(pid_t)>& supervise) {
  ignore_endings();
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return cannot("become the reaper of the job");
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    return supervise(self);
  }
  if (child < 0) return cannot("fork");
  if (channel >= 0) ::close(channel);
  const int status = wait_for(child);
  end_orphans();
  if (Status recorded = record_gone(directory); !recorded)
    std::fprintf(stderr, "aresstepd: %s\n", recorded.error().message.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace ares::stepd
