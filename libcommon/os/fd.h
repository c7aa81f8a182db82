// Fd: a file descriptor that is closed by its destructor. Also makes errors from errno.
// Owned like any value; one thread at a time.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

#include "base/result.h"

namespace ares::os {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }

 private:
  int fd_ = -1;
};

// "WHAT: No space left on device", with the error code for `error_number`.
Error errno_error(const std::string& what, int error_number);
Error errno_error(const std::string& what);  // for the current errno

}  // namespace ares::os
