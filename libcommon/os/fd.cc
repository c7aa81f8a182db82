#include "os/fd.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ares::os {

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned from = 3;
  for (const int fd : kept) {
    const auto end = static_cast<unsigned>(fd);
    if (end > from) ::close_range(from, end - 1, 0);
    from = end + 1;
  }
  ::close_range(from, ~0U, 0);
}

Error errno_error(const std::string& what, int error_number) {
  ErrorCode code = ErrorCode::internal;
  switch (error_number) {
    case ENOENT: code = ErrorCode::not_found; break;
    case EEXIST: code = ErrorCode::already_exists; break;
    case EACCES:
    case EPERM:
    case EROFS: code = ErrorCode::permission_denied; break;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case ENOMEM: code = ErrorCode::resource_exhausted; break;
    case EAGAIN:
    case EINTR:
    case ETIMEDOUT:
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE: code = ErrorCode::unavailable; break;
    case EINVAL:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR: code = ErrorCode::invalid_argument; break;
  }
  return {code, what + ": " + std::strerror(error_number)};
}

Error errno_error(const std::string& what) {
  return errno_error(what, errno);
}

}  // namespace ares::os
