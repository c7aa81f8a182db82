#include "os/sockets/local_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace ares::os {
namespace {

struct Place {
  Fd directory;
  sockaddr_un address{};
  std::string path;  // for messages
};

Result<Place> place(const std::string& directory, const std::string& name) {
  Place made;
  made.path = directory + "/" + name;
  made.directory.reset(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!made.directory) return fail(errno_error("cannot enter " + directory));
  made.address.sun_family = AF_UNIX;
  const int written = std::snprintf(made.address.sun_path, sizeof made.address.sun_path,
                                    "/proc/self/fd/%d/%s", made.directory.get(), name.c_str());
  if (written < 0 || static_cast<std::size_t>(written) >= sizeof made.address.sun_path)
    return fail(ErrorCode::invalid_argument, "the name of a socket is too long: " + name);
  return made;
}

}  // namespace

Result<Fd> listen_in(const std::string& directory, const std::string& name, uid_t owner) {
  Result<Place> at = place(directory, name);
  if (!at) return fail(at.error());
  const auto cannot = [&](int error = errno) {
    return fail(errno_error("cannot use " + at->path + " as a socket", error));
  };
  if (::unlinkat(at->directory.get(), name.c_str(), 0) != 0 && errno != ENOENT) return cannot();
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return cannot();
  const mode_t mask = ::umask(0177);
  const int bound =
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at->address), sizeof at->address);
  const int error = errno;
  ::umask(mask);
  if (bound != 0) return cannot(error);
  if (owner != ::geteuid() && ::fchownat(at->directory.get(), name.c_str(), owner,
                                         static_cast<gid_t>(-1), AT_SYMLINK_NOFOLLOW) != 0)
    return cannot();
  if (::listen(socket.get(), SOMAXCONN) != 0) return cannot();
  return socket;
}

Result<Fd> connect_in(const std::string& directory, const std::string& name, bool wait) {
  Result<Place> at = place(directory, name);
  if (!at) return fail(at.error());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (wait ? 0 : SOCK_NONBLOCK), 0));
  if (!socket) return fail(errno_error("cannot make a socket"));
  int connected = 0;
  while ((connected = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at->address),
                                sizeof at->address)) != 0 &&
         errno == EINTR) {
  }
  if (connected == 0) return socket;
  Error error = errno_error("cannot connect to " + at->path);
  error.code = errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return fail(error);
}

}  // namespace ares::os
