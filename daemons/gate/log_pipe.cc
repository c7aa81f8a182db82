#include "gate/log_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "os/clock.h"
#include "os/file.h"

namespace ares::gate {
namespace {

constexpr std::size_t kAtOnce = std::size_t{64} << 10;
constexpr std::chrono::milliseconds kBetweenReads{100};  // of the annotation

}  // namespace

Result<LogPipe> LogPipe::open(std::string state, int log) {
  LogPipe self(std::move(state), log);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return fail(os::errno_error("cannot make a pipe"));
  self.pipe_.reset(ends[0]);
  self.script_end_.reset(ends[1]);
  // Only this end: programs do not expect that a write to standard output is refused.
  for (const int end : {ends[0], log})
    if (::fcntl(end, F_SETFL, ::fcntl(end, F_GETFL) | O_NONBLOCK) < 0)
      return fail(os::errno_error("cannot use the log"));
  return self;
}

bool LogPipe::carry() {
  read_state();
  read_pipe();
  write_log();
  return !output_.is_done();
}

void LogPipe::read_state() {
  const Time now = os::wall_now();
  const bool is_awaited = is_closing_ || !output_.takes_more();
  if (!is_awaited && now >= read_at_ && now < read_at_ + kBetweenReads) return;
  read_at_ = now;
  const Result<std::string> text = os::read_file(state_);
  if (!text || text->empty()) return;
  if (const auto state = kubernetes::decode_output_state(*text)) output_.set_state(*state, now);
}

void LogPipe::read_pipe() {
  char bytes[kAtOnce];
  while (pipe_ && output_.takes_more()) {
    const ssize_t count = ::read(pipe_.get(), bytes, sizeof bytes);
    if (count > 0) {
      output_.add({bytes, static_cast<std::size_t>(count)}, os::wall_now());
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    // A process that has left the container may hold the other end for ever.
    if (count == 0 || (is_closing_ && errno == EAGAIN)) pipe_.reset();
    break;
  }
  if (!pipe_ && is_closing_) output_.end();
}

void LogPipe::write_log() {
  while (!output_.unwritten().empty()) {
    const std::string_view bytes = output_.unwritten();
    const ssize_t count = ::write(log_, bytes.data(), bytes.size());
    if (count > 0) {
      output_.wrote(static_cast<std::size_t>(count));
    } else if (count < 0 && errno != EINTR) {
      // A log that is gone takes nothing: then nothing waits for it.
      if (errno != EAGAIN) output_.wrote(bytes.size());
      return;
    }
  }
}

}  // namespace ares::gate
