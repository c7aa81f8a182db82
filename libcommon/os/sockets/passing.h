// Packets with open descriptors between related processes, on sockets of type SOCK_SEQPACKET.
// Stateless functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace ares::os {

inline constexpr std::size_t kLongestPassed = 8192;  // bytes of text

// Does not wait: an error if the packet does not fit into the socket now. `fd` is -1 if none is
// passed; the caller keeps its own copy.
Status pass(int socket, std::string_view text, int fd = -1);

struct Passed {
  std::string text;
  Fd fd;  // not inherited by programs that are executed
};
// Does not wait. `unavailable` if there is no packet, `not_found` if the other end is closed; a packet
// that is too long is `invalid_argument`.
Result<Passed> receive_passed(int socket);

}  // namespace ares::os
