#include "step_client/allocation.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <utility>

#include "cli/values/job_ids.h"
#include "model/job/job.h"
#include "os/clock.h"
#include "step_client/pending_call.h"
#include "step_client/reach.h"
#include "step_client/wait_limit.h"
#include "steps/frame.h"

namespace ares::step_client {
namespace {

using steps::FrameKind;

constexpr std::uint32_t kPollSeconds = 30;
constexpr Duration kShortWait = std::chrono::milliseconds(400);  // without a word about it
constexpr Duration kLongWait = std::chrono::seconds(10);  // after which the user may look elsewhere
constexpr Duration kSubmitFor = std::chrono::minutes(10);
constexpr Duration kPatience = std::chrono::seconds(10);
constexpr Duration kBetweenTries = std::chrono::seconds(1);
constexpr Duration kCancelFor = std::chrono::seconds(2);

int milliseconds(Duration duration) {
  return static_cast<int>(std::clamp<std::int64_t>(
      std::chrono::ceil<std::chrono::milliseconds>(duration).count(), 0, 3'600'000));
}

api::Request wait_request(const JobKey& job) {
  api::Request request;
  request.mutable_wait_job()->mutable_job()->set_job(job.job.value());
  request.mutable_wait_job()->set_seconds(kPollSeconds);
  request.mutable_wait_job()->set_start(true);
  return request;
}

bool send_frame(int socket, FrameKind kind, std::uint32_t number = 0) {
  std::string bytes;
  append_frame(bytes, kind, number, {});
  return ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

// Waits for a frame of that kind.
Status await_frame(int socket, FrameKind kind, int interrupt) {
  const auto lost = [] {
    return fail(ErrorCode::unavailable, "the job has ended, or its first node does not answer");
  };
  const WaitLimit limit = WaitLimit::of(kPatience, interrupt);
  steps::FrameReader reader;
  for (;;) {
    const Result<std::optional<steps::Frame>> frame = reader.next();
    if (!frame) return lost();
    if (*frame && (*frame)->kind == kind) return {};
    if (*frame) continue;
    if (limit.wait(socket, POLLIN) != Waited::ready) return lost();
    char bytes[4096];
    const ssize_t n = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return lost();
    reader.add({bytes, static_cast<std::size_t>(n)});
  }
}

std::string how_it_ended(const api::Job& job) {
  std::string text = job.state();
  if (job.exit_signal() != 0)
    text += ", signal " + std::to_string(job.exit_signal());
  else if (job.exit_code() != 0)
    text += ", exit code " + std::to_string(job.exit_code());
  if (!job.cause().empty()) text += ": " + job.cause();
  return text;
}

}  // namespace

std::string holding_script(bool held) {
  return std::string("#!/bin/sh\nexec ares-allocation") + (held ? "" : " --unheld") + "\n";
}

std::string holding_environment(const std::string& path) {
  std::string search = path.empty() ? std::string("/usr/local/bin:/usr/bin:/bin") : path;
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  const std::string own(self, size > 0 ? static_cast<std::size_t>(size) : 0);
  if (const std::size_t slash = own.rfind('/'); slash != std::string::npos)
    search += ":" + own.substr(0, slash);
  return "PATH=" + search + '\0';
}

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

void Allocation::say(const std::string& text) const {
  if (!wishes_.quiet) std::fprintf(stderr, "%s: %s\n", wishes_.program.c_str(), text.c_str());
}

Result<Allocation> Allocation::obtain(const std::function<Result<rpc::Client>()>& open,
                                      api::Request request, AllocationWishes wishes) {
  const BootTime begun = os::boot_now();
  const sigset_t handled = ending_signals();
  sigset_t others = handled;
  for (const int signal : {SIGCHLD, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH})
    ::sigaddset(&others, signal);
  ::sigprocmask(SIG_BLOCK, &others, nullptr);
  os::Fd signals(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return fail(os::errno_error("cannot receive signals"));
  Result<rpc::Client> client = open();
  if (!client) return fail(client.error());
  Allocation self(std::move(*client), std::move(wishes));
  self.signals_ = std::move(signals);
  if (Status submitted = self.submit(request); !submitted) return fail(submitted.error());
  if (Status started = self.wait_for_start(); !started) return fail(started.error());
  if (Status connected = self.connect(self.signals_.get()); !connected) {
    if (self.signalled()) return fail(self.give_up("given up").error());
    // The batch script ends by itself in any case.
    (void)self.cancel();
    return fail(connected.error());
  }
  const bool rings =
      self.wishes_.bell == Bell::always ||
      (self.wishes_.bell == Bell::after_a_wait && os::boot_now() - begun >= kLongWait);
  if (rings && ::isatty(2)) std::fputc('\a', stderr);
  return self;
}

bool Allocation::signalled() const {
  signalfd_siginfo info;
  return ::read(signals_.get(), &info, sizeof info) == sizeof info;
}

// Tries again as asub does, under the same request id. An answer may have been lost.
Status Allocation::submit(const api::Request& request) {
  const BootTime until = os::boot_now() + kSubmitFor;
  const std::string unknown =
      wishes_.held
          ? "; if the job was submitted nevertheless it ends by itself when it has started"
          : "; the job may have been submitted nevertheless: see aqueue --me, and cancel it";
  Result<api::Response> response = fail(ErrorCode::unavailable, "no answer");
  for (;;) {
    PendingCall call(client_, request);
    pollfd ready[] = {{signals_.get(), POLLIN, 0}, {call.fd(), POLLIN, 0}};
    ::poll(ready, std::size(ready), -1);
    const bool gives_up = signalled();
    std::optional<Result<api::Response>> answer = call.take();
    if (gives_up && answer && *answer && !(**answer).acted().jobs().empty()) {
      job_ = cli::key_of((**answer).acted().jobs(0));
      name_ = cli::format_job_id(job_);
      return give_up("given up");
    }
    if (gives_up) return fail(ErrorCode::failed_precondition, "given up" + unknown);
    if (!answer) continue;
    response = std::move(*answer);
    if (response || response.error().code != ErrorCode::unavailable) break;
    if (os::boot_now() >= until)
      return fail(ErrorCode::unavailable, response.error().message + unknown);
    if (!std::exchange(told_away_, true)) say(response.error().message + ", retrying");
    ::poll(ready, 1, milliseconds(kBetweenTries));
  }
  if (!response) return fail(response.error().code, wishes_.refused + response.error().message);
  if (response->acted().jobs().empty())
    return fail(ErrorCode::internal, "the controller answered without a job id");
  job_ = cli::key_of(response->acted().jobs(0));
  name_ = cli::format_job_id(job_);
  if (!response->acted().text().empty()) say(response->acted().text());
  return {};
}

Status Allocation::wait_for_start() {
  const BootTime begun = os::boot_now();
  bool told = false;
  BootTime next_try{};
  std::unique_ptr<PendingCall> call;
  for (;;) {
    const BootTime now = os::boot_now();
    if (!call && now >= next_try) call = std::make_unique<PendingCall>(client_, wait_request(job_));
    BootTime wake = now + kLongWait;
    if (!call) wake = std::min(wake, next_try);
    if (!told) wake = std::min(wake, begun + kShortWait);
    if (wishes_.immediate) wake = std::min(wake, begun + Duration(*wishes_.immediate));
    pollfd ready[] = {{signals_.get(), POLLIN, 0}, {call ? call->fd() : -1, POLLIN, 0}};
    ::poll(ready, std::size(ready), milliseconds(wake - now));
    if (signalled()) return give_up("given up while it waited");
    if (std::optional<Result<api::Response>> response = call ? call->take() : std::nullopt) {
      call.reset();
      const Result<bool> started = has_started(*response, told);
      if (!started) return fail(started.error());
      if (*started) return {};
      if (!*response) next_try = os::boot_now() + kBetweenTries;
    }
    if (wishes_.immediate && os::boot_now() - begun >= *wishes_.immediate)
      return give_up("no resources within " + std::to_string(wishes_.immediate->count()) +
                     " s (--immediate)");
    if (!told && os::boot_now() - begun >= kShortWait) {
      told = true;
      if (wishes_.announce) say("Pending job allocation " + name_);
      say("job " + name_ + " queued and waiting for resources");
    }
  }
}

// `waited`: the user was told that it waits.
Result<bool> Allocation::has_started(const Result<api::Response>& response, bool waited) {
  if (!response && response.error().code == ErrorCode::unavailable) {
    if (!std::exchange(told_away_, true)) say(response.error().message + ", retrying");
    return false;
  }
  if (!response) return fail(response.error());
  if (response->jobs().jobs().empty())
    return fail(ErrorCode::internal, "the controller answered without the job");
  const api::Job& job = response->jobs().jobs(0);
  const auto state = parse_job_state(job.state());
  if (state && is_terminal(*state))
    return fail(ErrorCode::failed_precondition,
                "job " + name_ + " has ended: " + how_it_ended(job));
  if (job.started() == 0 || !state || *state == JobState::pending) return false;
  if (waited) say("job " + name_ + " has been allocated resources");
  if (wishes_.announce) say("Granted job allocation " + name_);
  return true;
}

Status Allocation::give_up(const std::string& why) {
  if (Status cancelled = cancel(); !cancelled) return cancelled;
  if (wishes_.announce) say("Job allocation " + name_ + " has been revoked.");
  return fail(ErrorCode::failed_precondition, why + "; job " + name_ + " is cancelled");
}

// Holds the job from now on, and learns its variables.
Status Allocation::connect(int interrupt) {
  Result<os::Fd> socket = reach(client_, job_, interrupt);
  if (!socket) return fail(socket.error());
  Result<std::vector<std::string>> variables = describe(socket->get(), interrupt);
  if (!variables) return fail(variables.error());
  variables_ = std::move(*variables);
  if (wishes_.held) {
    if (!send_frame(socket->get(), FrameKind::keep))
      return fail(ErrorCode::unavailable, "the job has ended, or its steps cannot run");
    if (Status kept = await_frame(socket->get(), FrameKind::kept, interrupt); !kept) return kept;
  }
  held_by_ = std::move(*socket);
  return {};
}

Status Allocation::hold(int interrupt) {
  if (held_by_) {
    char bytes[4096];  // of a later release: nothing is expected
    ssize_t n = 0;
    do n = ::recv(held_by_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    while (n > 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    held_by_.reset();
  }
  return connect(interrupt);
}

// The controller may not answer, and who gave the signal does not want to wait.
Status Allocation::cancel() {
  api::Request request;
  request.set_request_id(rpc::new_request_id());
  cli::add_refs(request.mutable_cancel()->mutable_jobs()->mutable_jobs(), std::span(&job_, 1));
  const WaitLimit limit = WaitLimit::of(kCancelFor, signals_.get());
  Result<api::Response> response = fail(ErrorCode::unavailable, "no answer");
  for (;;) {
    response = call_within(client_, request, limit);
    if (response) return {};
    const bool again =
        response.error().code == ErrorCode::unavailable &&
        os::boot_now() + kBetweenTries < limit.until &&
        WaitLimit::of(kBetweenTries, limit.interrupt).wait(-1, 0) != Waited::interrupted;
    if (!again) break;
  }
  return fail(response.error().code,
              "job " + name_ + " may not have been cancelled: " + response.error().message +
                  (wishes_.held ? "; it ends by itself when no command holds it" : "") +
                  "; acancel " + name_);
}

// A node daemon that is being restarted answers again soon.
Status Allocation::ask_to_release(int code) {
  const WaitLimit limit = WaitLimit::of(kPatience, signals_.get());
  for (;;) {
    Status held = hold(limit.interrupt);
    if (held && send_frame(held_by_.get(), FrameKind::release, static_cast<std::uint32_t>(code)) &&
        await_frame(held_by_.get(), FrameKind::released, limit.interrupt))
      return {};
    held_by_.reset();
    if (!held && held.error().code != ErrorCode::unavailable) return held;
    if (os::boot_now() + kBetweenTries >= limit.until ||
        WaitLimit::of(kBetweenTries, limit.interrupt).wait(-1, 0) == Waited::interrupted)
      return fail(ErrorCode::unavailable, "its first node does not answer");
  }
}

void Allocation::release(int code) {
  if (wishes_.announce) say("Relinquishing job allocation " + name_);
  const Status released = ask_to_release(code);
  if (released || released.error().code == ErrorCode::not_found ||
      released.error().code == ErrorCode::failed_precondition)
    return;           // it ends, or has ended
  (void)signalled();  // another one ends the wait for its cancellation
  say(released.error().message + "; job " + name_ + " is cancelled");
  if (const Status cancelled = cancel(); !cancelled) say(cancelled.error().message);
}

}  // namespace ares::step_client
