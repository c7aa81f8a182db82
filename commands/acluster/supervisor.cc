#include "acluster/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "os/clock.h"

namespace ares::acluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstDelay{100};
constexpr milliseconds kLongestDelay{5'000};
// After running this long a process restarts without back-off.
constexpr milliseconds kStable{1'000};
// Interval between checks of whether a service may start.
constexpr milliseconds kCheckInterval{10};

void log_line(const std::string& text) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(os::wall_now());
  std::printf("%lld.%03lld %s\n", static_cast<long long>(now.time_since_epoch().count() / 1000),
              static_cast<long long>(now.time_since_epoch().count() % 1000), text.c_str());
  std::fflush(stdout);
}

}  // namespace

ServiceSupervisor::ServiceSupervisor(Layout layout, std::vector<Service> services)
    : layout_(std::move(layout)) {
  for (Service& service : services) {
    SupervisedService supervised{std::move(service), {}, {}, Clock::now(), {}, {}};
    // Take over processes that an earlier supervisor started or that run without a supervisor.
    if (const auto process = read_record(layout_.record(supervised.service.role));
        process && alive(*process)) {
      supervised.process = process;
      supervised.ended = watch(*process);
    }
    services_.push_back(std::move(supervised));
  }
}

void ServiceSupervisor::note_exits() {
  for (SupervisedService& supervised : services_) {
    if (!supervised.process) continue;
    pollfd ended{supervised.ended.get(), POLLIN, 0};
    if (supervised.ended && ::poll(&ended, 1, 0) == 0) continue;
    const auto now = Clock::now();
    supervised.delay = now - supervised.since >= kStable
                           ? kFirstDelay
                           : std::clamp(2 * supervised.delay, kFirstDelay, kLongestDelay);
    supervised.not_before = now + supervised.delay;
    log_line(supervised.service.role + " (pid " + std::to_string(supervised.process->pid) +
             ") ended; starting it again in " + std::to_string(supervised.delay.count()) + " ms");
    supervised.process.reset();
    supervised.ended.reset();
  }
}

void ServiceSupervisor::start(SupervisedService& supervised) {
  const auto process = launch(supervised.service.launch());
  supervised.since = Clock::now();
  if (!process) {
    last_error_ = process.error();
    log_line(supervised.service.role + ": " + process.error().message);
    supervised.delay = std::clamp(2 * supervised.delay, kFirstDelay, kLongestDelay);
    supervised.not_before = supervised.since + supervised.delay;
    return;
  }
  supervised.process = *process;
  supervised.ended = watch(*process);
  log_line(supervised.service.role + " started, pid " + std::to_string(process->pid));
}

bool ServiceSupervisor::start_missing() {
  note_exits();
  bool all = true;
  for (SupervisedService& supervised : services_) {
    if (supervised.process) continue;
    if (Clock::now() >= supervised.not_before && supervised.service.may_start()) start(supervised);
    all = all && supervised.process.has_value();
  }
  return all;
}

Status ServiceSupervisor::start_all(milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!start_missing()) {
    if (Clock::now() >= deadline) {
      std::string missing;
      for (const SupervisedService& supervised : services_)
        if (!supervised.process) missing += (missing.empty() ? "" : ", ") + supervised.service.role;
      return fail(ErrorCode::unavailable, "could not start " + missing + "; see the logs in " +
                                              layout_.logs() +
                                              (last_error_ ? ": " + last_error_->message : ""));
    }
    ::poll(nullptr, 0, static_cast<int>(kCheckInterval.count()));
  }
  return {};
}

ServiceSupervisor::Clock::time_point ServiceSupervisor::next_check() const {
  auto next = Clock::time_point::max();
  const auto now = Clock::now();
  for (const SupervisedService& supervised : services_)
    if (!supervised.process)
      next = std::min(next, std::max(supervised.not_before, now + kCheckInterval));
  return next;
}

int ServiceSupervisor::supervise() {
  // Orphaned children of the daemons are reparented to this process and reaped here; a container's
  // init might leave zombies.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const os::Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  for (;;) {
    start_missing();
    std::vector<pollfd> waits = {{signals.get(), POLLIN, 0}};
    for (const SupervisedService& supervised : services_)
      if (supervised.process) waits.push_back({supervised.ended.get(), POLLIN, 0});
    const auto next = next_check();
    const int timeout =
        next == Clock::time_point::max()
            ? -1
            : static_cast<int>(std::chrono::ceil<milliseconds>(next - Clock::now()).count());
    ::poll(waits.data(), waits.size(),
           std::max(timeout, next == Clock::time_point::max() ? -1 : 0));
    signalfd_siginfo info{};
    while (::read(signals.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) {
        log_line("ending everything");
        stop_everything(layout_);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
        return 0;
      }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
}

}  // namespace ares::acluster
