// A sink of spdlog that writes a file, and opens it again when it is told to.
// Owned by the log; any thread. Private to log/.
#pragma once

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "base/result.h"

namespace ares {

// The library locks and unlocks its mutex, a std::mutex.
class ReopenedFile final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ReopenedFile(std::string path) : path_(std::move(path)) {}
  ~ReopenedFile() override { close(fd_); }

  // invalid_argument with the reason; then the file of before stays open.
  Status reopen() {
    const int opened = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (opened < 0)
      return fail(ErrorCode::invalid_argument,
                  "cannot write the log " + path_ + ": " + std::generic_category().message(errno));
    const std::lock_guard lock(mutex_);
    close(std::exchange(fd_, opened));
    return {};
  }

 private:
  // A line at once, so that nothing is lost by a kill. What a full disk does not take is lost.
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    for (std::size_t written = 0; written < line.size();) {
      const ssize_t n = ::write(fd_, line.data() + written, line.size() - written);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      written += static_cast<std::size_t>(n);
    }
  }
  void flush_() override {}

  static void close(int fd) {
    if (fd >= 0) ::close(fd);
  }

  const std::string path_;
  int fd_ = -1;
};

}  // namespace ares
