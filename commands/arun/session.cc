#include "arun/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/hostlist.h"
#include "base/interval_set.h"
#include "os/clock.h"
#include "steps/task_environment.h"

namespace ares::arun {
namespace {

using steps::FrameKind;

constexpr std::size_t kRead = std::size_t{1} << 18;
constexpr Duration kTwice = std::chrono::seconds(1);  // from one Ctrl-C to the next that counts
constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

bool is_null(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == ::makedev(1, 3);
}

// A pipe with no room blocks; part of it is written without.
bool may_block(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode);
}

}  // namespace

Session::Session(const Wanted& wanted, Streams streams, os::Fd host)
    : wanted_(wanted), streams_(std::move(streams)), host_(std::move(host)) {}

Session::~Session() {
  if (terminal_) ::tcsetattr(0, TCSADRAIN, &*terminal_);
}

void Session::say(const std::string& text) const {
  // In raw mode a new line does not return to the first column.
  std::fprintf(stderr, terminal_ ? "%s: %s\r\n" : "%s: %s\n", wanted_.program.c_str(),
               text.c_str());
}

std::uint32_t Session::window_size() const {
  winsize window{};
  if (::ioctl(0, TIOCGWINSZ, &window) != 0) return 0;
  return std::uint32_t{window.ws_col} << 16 | window.ws_row;
}

Status Session::prepare() {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH})
    ::sigaddset(&handled, signal);
  ::sigprocmask(SIG_BLOCK, &handled, nullptr);
  signals_.reset(::signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail(os::errno_error("cannot receive signals"));
  const int flags =
      O_WRONLY | O_CREAT | O_CLOEXEC | (wanted_.request.task.append ? O_APPEND : O_TRUNC);
  const std::string* const names[] = {&streams_.output, &streams_.errors};
  for (int i = 0; i < 2; ++i) {
    if (names[i]->empty()) {
      if (may_block(i + 1))
        unblocking_[i].reset(::open(("/proc/self/fd/" + std::to_string(i + 1)).c_str(),
                                    O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
      continue;
    }
    if (i == 1 && *names[1] == *names[0]) {
      files_[1].reset(::fcntl(files_[0].get(), F_DUPFD_CLOEXEC, 3));
      continue;
    }
    files_[i].reset(::open(names[i]->c_str(), flags, 0666));
    if (!files_[i]) return fail(os::errno_error("cannot open " + *names[i]));
  }
  if (wanted_.pty && ::isatty(0)) {
    termios raw{};
    if (::tcgetattr(0, &raw) == 0) {
      terminal_ = raw;
      ::cfmakeraw(&raw);
      ::tcsetattr(0, TCSADRAIN, &raw);
    }
  }
  return {};
}

Result<int> Session::run() {
  if (Status prepared = prepare(); !prepared) return fail(prepared.error());
  steps::StepRequest request = wanted_.request;
  request.task.has_input = streams_.sends_input && !is_null(streams_.input);
  if (!request.task.has_input) input_ends_ = true;
  if (wanted_.pty) request.task.window_size = window_size();
  const Status asked = wanted_.attach_to ? send(FrameKind::attach, *wanted_.attach_to, {})
                                         : send(FrameKind::create, 0, encode(request));
  if (!asked) return fail(asked.error());
  while (!over_)
    if (Status turned = turn(); !turned) {
      if (output_) output_->flush();
      return fail(turned.error());
    }
  if (output_) output_->flush();
  return worst_;
}

bool Session::reads_input() const {
  return !input_ends_ && layout_ && full_.empty() && waiting_.size() < kMostWaiting;
}

Status Session::turn() {
  pollfd ready[] = {{host_.get(), static_cast<short>(POLLIN | (waiting_.empty() ? 0 : POLLOUT)), 0},
                    {signals_.get(), POLLIN, 0},
                    {reads_input() ? streams_.input : -1, POLLIN, 0}};
  if (::poll(ready, std::size(ready), patience_ms()) < 0) return {};
  end_if_late();
  if (ready[1].revents != 0) read_signals();
  if (ready[2].revents != 0) read_input();
  if (ready[0].revents & POLLOUT)
    if (Status sent = send_waiting(); !sent) return sent;
  if (ready[0].revents & (POLLIN | POLLHUP | POLLERR)) return read_host();
  return {};
}

int Session::patience_ms() const {
  if (!late_at_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*late_at_ - os::boot_now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

// --wait: the first task has ended long enough ago.
void Session::end_if_late() {
  if (!late_at_ || os::boot_now() < *late_at_) return;
  late_at_.reset();
  say("the first task ended " + std::to_string(wanted_.wait_seconds) +
      " s ago; the others are ended (--wait)");
  (void)send(FrameKind::signal, SIGKILL, {});
}

void Session::say_layout() const {
  std::vector<std::string> names;
  for (const steps::StepLayout::Node& node : layout_->nodes) names.push_back(node.name);
  std::printf("Job step layout:\n\t%u tasks, %zu nodes (%s)\n\n", layout_->tasks, names.size(),
              compress_hostlist(names).c_str());
  for (std::size_t i = 0; i < layout_->nodes.size(); ++i) {
    const steps::StepLayout::Node& node = layout_->nodes[i];
    IntervalSet ranks;
    for (const std::uint32_t rank : node.ranks) ranks.insert(rank);
    std::printf("\tNode %zu (%s), %zu task(s): %s\n", i, node.name.c_str(), node.ranks.size(),
                format_interval_set(ranks).c_str());
  }
}

void Session::read_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int signal = static_cast<int>(info.ssi_signo);
    // The first process of the job's namespace sends a signal to all processes of the job.
    const bool sent_to_all = info.ssi_pid == 1 && info.ssi_code == SI_USER;
    if (signal == SIGWINCH) {
      if (wanted_.pty && layout_) (void)send(FrameKind::window_size, window_size(), {});
    } else if (sent_to_all) {
      continue;
    } else if (wanted_.attach_to) {  // it ends, and the step goes on
      constexpr int kSignalled = 128;
      worst_ = kSignalled + signal;
      over_ = true;
    } else if (signal == SIGINT && ::isatty(0) && !wanted_.quit_on_interrupt) {
      interrupted();
    } else {
      (void)send(FrameKind::signal, info.ssi_signo, {});
    }
  }
}

void Session::interrupted() {
  const BootTime now = os::boot_now();
  const bool again = interrupted_at_ && now - *interrupted_at_ < kTwice;
  interrupted_at_ = now;
  interrupts_ = again ? interrupts_ + 1 : 1;
  if (interrupts_ >= 3) return (void)send(FrameKind::signal, SIGKILL, {});
  if (interrupts_ == 2 || !layout_) return (void)send(FrameKind::signal, SIGINT, {});
  IntervalSet running;
  for (const std::uint32_t rank : left_) running.insert(rank);
  say("interrupt; one more within a second ends the step");
  say("step " + std::to_string(step_) + ": tasks that run: " + format_interval_set(running));
}

Status Session::send(FrameKind kind, std::uint32_t number, std::string_view payload) {
  append_frame(waiting_, kind, number, payload);
  return send_waiting();
}

Status Session::send_waiting() {
  while (!waiting_.empty()) {
    const ssize_t n =
        ::send(host_.get(), waiting_.data(), waiting_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return {};
    if (n < 0) return {};  // what it said before it closed is read first
    waiting_.erase(0, static_cast<std::size_t>(n));
  }
  return {};
}

Status Session::read_host() {
  char bytes[kRead];
  const ssize_t n = ::recv(host_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0)
    return fail(ErrorCode::failed_precondition,
                layout_
                    ? "the process that runs the steps of this job on its first node has ended; "
                      "the tasks of this step are killed"
                    : "the process that runs the steps of this job on its first node has ended");
  reader_.add({bytes, static_cast<std::size_t>(n)});
  for (;;) {
    Result<std::optional<steps::Frame>> frame = reader_.next();
    if (!frame) return fail(frame.error());
    if (!*frame || over_) return {};
    if (Status received = receive(**frame); !received) return received;
  }
}

Status Session::receive(const steps::Frame& frame) {
  switch (frame.kind) {
    case FrameKind::waits: say("the step waits: " + frame.payload); break;
    case FrameKind::refused: return fail(ErrorCode::failed_precondition, frame.payload);
    case FrameKind::created: {
      Result<steps::StepLayout> layout = steps::decode_layout(frame.payload);
      if (!layout) return fail(layout.error());
      if (wanted_.attach_to && wanted_.pty && !layout->terminal)
        return fail(ErrorCode::failed_precondition,
                    "no task of the step has a terminal: it was started without --pty");
      step_ = frame.number;
      for (const steps::StepLayout::Node& node : layout->nodes)
        left_.insert(node.ranks.begin(), node.ranks.end());
      using Form = TaskOutput::Form;
      const bool at_once = wanted_.unbuffered || wanted_.pty || layout->tasks == 1;
      output_.emplace([this](int stream, std::string_view text) { write_output(stream, text); },
                      wanted_.label ? Form::labels
                      : at_once     ? Form::at_once
                                    : Form::lines,
                      layout->tasks);
      layout_ = std::move(*layout);
      if (wanted_.only_layout) {
        say_layout();
        over_ = true;
      }
      break;
    }
    case FrameKind::output:
      if (output_ && !streams_.no_output &&
          streams_.output_rank.value_or(frame.number) == frame.number)
        output_->take(frame.number, 1, frame.payload);
      break;
    case FrameKind::errors:
      if (output_ && !streams_.no_errors &&
          streams_.errors_rank.value_or(frame.number) == frame.number)
        output_->take(frame.number, 2, frame.payload);
      break;
    case FrameKind::ended: {
      const Result<steps::TaskEnd> end = steps::decode_end(frame.payload);
      if (!end) return fail(end.error());
      task_ended(frame.number, *end);
      break;
    }
    case FrameKind::input_full:
      if (frame.payload == "1")
        full_.insert(frame.number);
      else
        full_.erase(frame.number);
      break;
    case FrameKind::abort:
      worst_ = std::max(worst_, static_cast<int>(frame.number & 0xff));
      say(frame.payload);
      break;
    case FrameKind::lost:
      say(std::to_string(frame.number) + " bytes of output are left out: this reader is too slow");
      break;
    case FrameKind::over: over_ = true; break;
    default: break;  // of a later release
  }
  return {};
}

std::string Session::node_of(std::uint32_t rank) const {
  for (const steps::StepLayout::Node& node : layout_->nodes)
    if (std::find(node.ranks.begin(), node.ranks.end(), rank) != node.ranks.end()) return node.name;
  return {};
}

void Session::task_ended(std::uint32_t rank, const steps::TaskEnd& end) {
  if (!layout_) return;
  left_.erase(rank);
  full_.erase(rank);
  if (wanted_.wait_seconds != 0 && !waited_ && !left_.empty()) {
    waited_ = true;
    late_at_ = os::boot_now() + Seconds(wanted_.wait_seconds);
  }
  worst_ = std::max(worst_, exit_code(end));
  if (wanted_.quiet || exit_code(end) == 0) return;
  const std::string how = end.out_of_memory ? "ran out of memory"
                          : end.signal != 0
                              ? std::string("was ended by signal ") + std::to_string(end.signal) +
                                    " (" + ::strsignal(end.signal) + ")"
                              : "exited with code " + std::to_string(end.code);
  if (!wanted_.is_srun()) return say(node_of(rank) + ": task " + std::to_string(rank) + " " + how);
  say("error: " + node_of(rank) + ": task " + std::to_string(rank) + ": " +
      (end.out_of_memory ? "Out Of Memory"
       : end.signal != 0 ? std::string(::strsignal(end.signal))
                         : "Exited with exit code " + std::to_string(end.code)));
}

void Session::read_input() {
  char bytes[kRead];
  const std::size_t most = streams_.input_part != 0 ? streams_.input_part : sizeof bytes;
  const ssize_t n = ::read(streams_.input, bytes, std::min(most, sizeof bytes));
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) input_ends_ = true;
  (void)send(FrameKind::input, wanted_.request.task.input_rank,
             {bytes, n > 0 ? static_cast<std::size_t>(n) : std::size_t{0}});
}

// Signals are obeyed while a reader makes us wait.
void Session::write_output(int stream, std::string_view bytes) {
  const os::Fd& file = files_[stream - 1];
  const os::Fd& unblocking = unblocking_[stream - 1];
  const int fd = file ? file.get() : unblocking ? unblocking.get() : stream;
  bool& unread = unread_[stream - 1];
  const bool in_parts = may_block(fd);
  while (!bytes.empty() && !unread) {
    if (in_parts) {
      pollfd ready[] = {{fd, POLLOUT, 0}, {signals_.get(), POLLIN, 0}};
      if (::poll(ready, std::size(ready), -1) < 0) continue;
      if (ready[1].revents != 0) read_signals();
      if (ready[0].revents == 0) continue;
    }
    const std::size_t most =
        in_parts && !unblocking ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
    const ssize_t n = ::write(fd, bytes.data(), most);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) continue;
    if (n < 0 && errno == EPIPE) {
      // As if the tasks had written there themselves: `arun yes | head` ends.
      unread = true;
      if (wanted_.attach_to) over_ = true;  // the step goes on
      (void)send(FrameKind::signal, SIGPIPE, {});
      return;
    }
    if (n < 0) {  // the tasks run on
      const int why = errno;
      unread = true;
      worst_ = std::max(worst_, 1);
      say(os::errno_error(stream == 1 ? "cannot write standard output, the rest of it is lost"
                                      : "cannot write standard error, the rest of it is lost",
                          why)
              .message);
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace ares::arun
