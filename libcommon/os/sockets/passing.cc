#include "os/sockets/passing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace ares::os {
namespace {

// Room for one descriptor, aligned as the kernel's header of it.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

}  // namespace

Status pass(int socket, std::string_view text, int fd) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    if (errno != EINTR) return fail(errno_error("cannot send to another process"));
  return {};
}

Result<Passed> receive_passed(int socket) {
  char bytes[kLongestPassed];
  iovec part{bytes, sizeof bytes};
  Control control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t size = 0;
  while ((size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0 &&
         errno == EINTR) {
  }
  if (size < 0 && errno == EAGAIN) return fail(ErrorCode::unavailable, "no packet has arrived");
  if (size <= 0) return fail(ErrorCode::not_found, "the other process has closed the connection");
  Passed passed;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    passed.fd.reset(fd);
  }
  if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
    return fail(ErrorCode::invalid_argument, "a packet of another process is too long");
  passed.text.assign(bytes, static_cast<std::size_t>(size));
  return passed;
}

}  // namespace ares::os
