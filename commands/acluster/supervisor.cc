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
constexpr milliseconds kStable{1'000};  // ran as long as this: the next restart is quick again
constexpr milliseconds kLook{10};       // between looks whether a service may start

void say(const std::string& text) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(os::wall_now());
  std::printf("%lld.%03lld %s\n", static_cast<long long>(now.time_since_epoch().count() / 1000),
              static_cast<long long>(now.time_since_epoch().count() % 1000), text.c_str());
  std::fflush(stdout);
}

}  // namespace

Keeper::Keeper(Layout layout, std::vector<Service> services) : layout_(std::move(layout)) {
  for (Service& service : services) {
    Kept kept{std::move(service), {}, {}, Clock::now(), {}, {}};
    // What an earlier supervisor started, or runs without one, is taken over.
    if (const auto process = read_record(layout_.record(kept.service.role));
        process && alive(*process)) {
      kept.process = process;
      kept.ended = watch(*process);
    }
    kept_.push_back(std::move(kept));
  }
}

void Keeper::note_ends() {
  for (Kept& kept : kept_) {
    if (!kept.process) continue;
    pollfd ended{kept.ended.get(), POLLIN, 0};
    if (kept.ended && ::poll(&ended, 1, 0) == 0) continue;
    const auto now = Clock::now();
    kept.delay = now - kept.since >= kStable
                     ? kFirstDelay
                     : std::clamp(2 * kept.delay, kFirstDelay, kLongestDelay);
    kept.not_before = now + kept.delay;
    say(kept.service.role + " (pid " + std::to_string(kept.process->pid) +
        ") ended; starting it again in " + std::to_string(kept.delay.count()) + " ms");
    kept.process.reset();
    kept.ended.reset();
  }
}

void Keeper::start(Kept& kept) {
  const auto process = launch(kept.service.launch());
  kept.since = Clock::now();
  if (!process) {
    last_error_ = process.error();
    say(kept.service.role + ": " + process.error().message);
    kept.delay = std::clamp(2 * kept.delay, kFirstDelay, kLongestDelay);
    kept.not_before = kept.since + kept.delay;
    return;
  }
  kept.process = *process;
  kept.ended = watch(*process);
  say(kept.service.role + " started, pid " + std::to_string(process->pid));
}

bool Keeper::start_missing() {
  note_ends();
  bool all = true;
  for (Kept& kept : kept_) {
    if (kept.process) continue;
    if (Clock::now() >= kept.not_before && kept.service.may_start()) start(kept);
    all = all && kept.process.has_value();
  }
  return all;
}

Status Keeper::start_all(milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  while (!start_missing()) {
    if (Clock::now() >= deadline) {
      std::string missing;
      for (const Kept& kept : kept_)
        if (!kept.process) missing += (missing.empty() ? "" : ", ") + kept.service.role;
      return fail(ErrorCode::unavailable, "could not start " + missing + "; see the logs in " +
                                              layout_.logs() +
                                              (last_error_ ? ": " + last_error_->message : ""));
    }
    ::poll(nullptr, 0, static_cast<int>(kLook.count()));
  }
  return {};
}

Keeper::Clock::time_point Keeper::next_look() const {
  auto next = Clock::time_point::max();
  const auto now = Clock::now();
  for (const Kept& kept : kept_)
    if (!kept.process) next = std::min(next, std::max(kept.not_before, now + kLook));
  return next;
}

int Keeper::supervise() {
  // Orphans of the daemons come to us and are reaped here, not left as zombies of a container's init.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGCHLD}) sigaddset(&set, signal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const os::Fd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  for (;;) {
    start_missing();
    std::vector<pollfd> waits = {{signals.get(), POLLIN, 0}};
    for (const Kept& kept : kept_)
      if (kept.process) waits.push_back({kept.ended.get(), POLLIN, 0});
    const auto next = next_look();
    const int timeout =
        next == Clock::time_point::max()
            ? -1
            : static_cast<int>(std::chrono::ceil<milliseconds>(next - Clock::now()).count());
    ::poll(waits.data(), waits.size(),
           std::max(timeout, next == Clock::time_point::max() ? -1 : 0));
    signalfd_siginfo info{};
    while (::read(signals.get(), &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) {
        say("ending everything");
        end_everything(layout_);
        while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
        return 0;
      }
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  }
}

}  // namespace ares::acluster
