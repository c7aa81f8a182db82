#include "aresstepd/steps/output_spill.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ares::stepd {

Status OutputSpill::open() {
  if (file_) return {};
  file_.reset(::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file_) return fail(os::errno_error("cannot make a file in " + directory_));
  return {};
}

void OutputSpill::add(std::string_view bytes) {
  if (!put_in_file(bytes)) not_in_file_ = bytes;
}

Status OutputSpill::put_in_file(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (Status opened = open(); !opened) return opened;
  if (bytes.size() > limit_ - size_) drop(bytes.size() - (limit_ - size_));
  const std::size_t end = (begin_ + size_) % limit_;
  const std::size_t before_wrap = std::min(bytes.size(), limit_ - end);
  if (Status written = write_at(end, bytes.substr(0, before_wrap)); !written) return written;
  if (Status written = write_at(0, bytes.substr(before_wrap)); !written) return written;
  size_ += bytes.size();
  return {};
}

void OutputSpill::drop(std::size_t count) {
  count = std::min(count, size_);
  begin_ = (begin_ + count) % limit_;
  size_ -= count;
  dropped_ += count;
  cut_ = count != 0;
}

Status OutputSpill::take(std::string& bytes, std::size_t most) {
  if (size_ == 0) {
    bytes += std::exchange(not_in_file_, {});
    return {};
  }
  const std::size_t old = bytes.size();
  const std::size_t count = std::min(most, size_);
  bytes.resize(old + count);
  const std::size_t before_wrap = std::min(count, limit_ - begin_);
  Status read = read_at(begin_, bytes.data() + old, before_wrap);
  if (read) read = read_at(0, bytes.data() + old + before_wrap, count - before_wrap);
  if (!read) {
    bytes.resize(old);
    dropped_ += std::exchange(size_, 0);
    return read;
  }
  begin_ = (begin_ + count) % limit_;
  size_ -= count;
  if (cut_) {
    const std::size_t line = bytes.find('\n', old);
    const std::size_t end = line == std::string::npos ? bytes.size() : line + 1;
    dropped_ += end - old;
    bytes.erase(old, end - old);
    cut_ = line == std::string::npos && size_ != 0;
  }
  if (size_ == 0) {
    file_.reset();  // gives back the disk space
    begin_ = 0;
  }
  return {};
}

Status OutputSpill::write_at(std::size_t position, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot keep the output of a task"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
    position += static_cast<std::size_t>(n);
  }
  return {};
}

Status OutputSpill::read_at(std::size_t position, char* bytes, std::size_t count) const {
  while (count != 0) {
    const ssize_t n = ::pread(file_.get(), bytes, count, static_cast<off_t>(position));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(os::errno_error("cannot read the output of a task again"));
    if (n == 0)
      return fail(ErrorCode::data_loss, "the file with the output of a task is too short");
    bytes += n;
    count -= static_cast<std::size_t>(n);
    position += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace ares::stepd
