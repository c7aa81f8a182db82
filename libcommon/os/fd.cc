#include "os/fd.h"

#include <cerrno>
#include <cstring>

namespace ares::os {

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
