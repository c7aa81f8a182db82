#include "aresstepd/reaper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "exec/baremetal/file_spool.h"
#include "os/clock.h"
#include "os/descendants.h"

namespace ares::stepd {
namespace {

constexpr int kKillAgainMs = 10;

// As in the supervisor: these signals end an aresd, but not what it has started.
void ignore_endings() {
  sigset_t ignored;
  ::sigemptyset(&ignored);
  for (int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) ::sigaddset(&ignored, signal);
  ::sigprocmask(SIG_BLOCK, &ignored, nullptr);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Returns when no child is left; orphans become our children.
void end_orphans() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return;
    if (pid > 0) continue;
    os::signal_descendants(SIGKILL);  // repeated: it may have forked
    ::poll(nullptr, 0, kKillAgainMs);
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
         started && started->reaper_pid == ::getpid();
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
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    return supervise(self);
  }
  if (child < 0) {
    std::fprintf(stderr, "aresstepd: %s\n", os::errno_error("cannot fork").message.c_str());
    return 1;
  }
  if (channel >= 0) ::close(channel);
  const int status = wait_for(child);
  end_orphans();
  if (Status recorded = record_gone(directory); !recorded)
    std::fprintf(stderr, "aresstepd: %s\n", recorded.error().message.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace ares::stepd
