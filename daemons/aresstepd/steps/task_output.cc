// What the tasks of a step write: read from their pipes, sent to the manager, and kept while that may not be.
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "aresstepd/steps/task_group.h"

namespace ares::stepd {
namespace {

using steps::FrameKind;

constexpr std::size_t kRead = std::size_t{1} << 16;
// What is kept of the output of one task's stream that arun does not read: a part of kMostKept, which is for
// all tasks on the node, so that a task which writes much leaves room for the others.
constexpr std::size_t kMostKept = std::size_t{1} << 30;
constexpr std::size_t kMostKeptOfStream = std::size_t{64} << 20;
constexpr std::size_t kLeastKeptOfStream = std::size_t{1} << 18;
constexpr std::size_t kMostLeftInTerminal = std::size_t{1} << 20;
constexpr const char* kKeptIn = "/tmp";
constexpr long kPauseMs = 50;  // that is not kept

void arm(const os::Fd& timer) {
  itimerspec when{};
  when.it_value.tv_nsec = kPauseMs * 1'000'000;
  ::timerfd_settime(timer.get(), 0, &when, nullptr);
}

}  // namespace

void TaskGroup::watch(std::size_t index, std::size_t which) {
  Stream& stream = tasks_[index].streams[which];
  if (!stream.fd) return;
  stream.watched = true;
  reactor_.watch(stream.fd.get(), EPOLLIN, [this, index, which](std::uint32_t) {
    Task& task = tasks_[index];
    read_output(task, task.streams[which]);
    end_if_over();
  });
  update_watch(stream);
}

void TaskGroup::update_watch(Stream& stream) {
  if (!stream.fd || (room(stream) != 0) == stream.watched) return;
  stream.watched = !stream.watched;
  reactor_.change(stream.fd.get(), stream.watched ? static_cast<std::uint32_t>(EPOLLIN) : 0);
}

std::size_t TaskGroup::most_kept() const {
  return std::clamp(kMostKept / (2 * std::max<std::size_t>(tasks_.size(), 1)), kLeastKeptOfStream,
                    kMostKeptOfStream);
}

std::size_t TaskGroup::room(const Stream& stream) const {
  const bool has_kept = stream.kept && !stream.kept->empty();
  if (!is_paused() && !has_kept) return kRead;
  if (is_paused() && !keeps_) return 0;
  return std::min(kRead, stream.kept ? stream.kept->room() : most_kept());
}

// Reads once what is there; of a task that has ended all that it left.
void TaskGroup::read_output(Task& task, Stream& stream) {
  char bytes[kRead];
  while (stream.fd) {
    const std::size_t most = std::min(room(stream), stream.left.value_or(kRead));
    if (most == 0) break;
    const ssize_t n = ::read(stream.fd.get(), bytes, most);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && !stream.left) break;
    if (n <= 0) {  // a terminal without programs says EIO
      close_stream(stream);
      break;
    }
    pass_on(task, stream, {bytes, static_cast<std::size_t>(n)});
    if (!stream.left) break;
    *stream.left -= static_cast<std::size_t>(n);
  }
  if (stream.left == 0U) close_stream(stream);
  update_watch(stream);
}

void TaskGroup::pass_on(Task& task, Stream& stream, std::string_view bytes) {
  if (!is_paused() && (!stream.kept || stream.kept->empty())) return send_some(task, stream, bytes);
  if (!stream.kept)
    stream.kept = std::make_unique<OutputSpill>(
        kKeptIn, most_kept(), launch_->task.drop_output ? Overflow::drop_oldest : Overflow::wait);
  stream.kept->add(bytes);
}

void TaskGroup::send_kept(std::size_t index, std::size_t which) {
  Task& task = tasks_[index];
  Stream& stream = task.streams[which];
  std::string bytes;
  const Status taken = stream.kept->take(bytes, kRead);
  std::string told;
  if (!taken) told = "aresstepd: " + taken.error().message + "\n";
  if (const std::uint64_t dropped = stream.kept->take_dropped(); dropped != 0) {
    told += "aresstepd: " + std::to_string(dropped) +
            " bytes of what this task wrote are dropped, because they were not read\n";
    if (stream.in_line && !bytes.empty()) bytes.insert(bytes.begin(), '\n');
  }
  if (!told.empty()) send_(FrameKind::errors, task.rank, told);
  if (!bytes.empty()) send_some(task, stream, bytes);
}

void TaskGroup::send_some(const Task& task, Stream& stream, std::string_view bytes) {
  send_(stream.kind, task.rank, bytes);
  stream.in_line = bytes.back() != '\n';
}

void TaskGroup::close_stream(Stream& stream) {
  if (!stream.fd) return;
  reactor_.forget(stream.fd.get());
  stream.fd.reset();
}

void TaskGroup::pause_output(bool pause) {
  link_full_ = pause;
  pause_changed();
}

// A reader that is slow for a moment lets the tasks wait, which costs less than a file.
void TaskGroup::pause_changed() {
  if (!is_paused())
    keeps_ = false;
  else if (pause_timer_)
    arm(pause_timer_);
  else
    keeps_ = true;
  output_may_flow();
}

// A round sends some of each stream. The next one is posted, so that a connection which is full by then says
// so before it.
void TaskGroup::output_may_flow() {
  bool more = false;
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    for (std::size_t which = 0; which < 2; ++which) {
      Stream& stream = tasks_[i].streams[which];
      if (!is_paused()) {
        if (stream.kept && !stream.kept->empty()) send_kept(i, which);
        more = more || (stream.kept && !stream.kept->empty());
      }
      if (stream.left)
        read_output(tasks_[i], stream);
      else
        update_watch(stream);
    }
  end_if_over();
  if (more && !std::exchange(round_posted_, true))
    reactor_.post([this, alive = alive_] {
      if (!*alive) return;
      round_posted_ = false;
      output_may_flow();
    });
}

void TaskGroup::make_pause_timer() {
  pause_timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (pause_timer_)
    reactor_.watch(pause_timer_.get(), EPOLLIN, [this](std::uint32_t) {
      std::uint64_t expired = 0;
      (void)!::read(pause_timer_.get(), &expired, sizeof expired);
      keeps_ = is_paused();
      output_may_flow();
    });
}

// Of a task that has ended. Processes that it left behind may still hold the pipe.
void TaskGroup::read_what_is_left(Task& task, Stream& stream) {
  int left = 0;
  if (stream.fd) (void)::ioctl(stream.fd.get(), FIONREAD, &left);
  // A terminal tells a part of it only.
  const bool terminal = launch_->task.pty && task.rank == 0;
  stream.left = terminal ? kMostLeftInTerminal : static_cast<std::size_t>(left);
  read_output(task, stream);
}

}  // namespace ares::stepd
