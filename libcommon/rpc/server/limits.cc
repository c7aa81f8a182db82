#include "rpc/server/limits.h"

#include <sys/resource.h>

#include <algorithm>

namespace ares::rpc {

ConnectionLimits connection_limits(std::size_t descriptors) {
  const auto part = [&](std::size_t divisor, std::size_t most) {
    return std::clamp<std::size_t>(descriptors / divisor, 1, most);
  };
  ConnectionLimits limits;
  limits.descriptors = descriptors;
  limits.reserve = part(8, 256);
  limits.local = part(2, 8192);
  limits.local_per_user = part(8, 2048);
  limits.unproven = part(16, 1024);  // a connection by TCP has two descriptors
  limits.unproven_per_address = part(64, 256);
  limits.tcp_per_user = part(64, 256);
  return limits;
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<std::size_t>(limit.rlim_cur);
}

bool in_reserve(int fd, const ConnectionLimits& limits) {
  return static_cast<std::size_t>(fd) + limits.reserve >= limits.descriptors;
}

}  // namespace ares::rpc
