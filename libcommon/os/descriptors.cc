#include "os/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "os/fd.h"

namespace ares::os {
namespace {

constexpr rlim_t kMost = 1 << 20;  // a hard limit may be "infinity", which the kernel refuses

}  // namespace

Result<DescriptorLimit> raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail(errno_error("cannot read the limit of open descriptors"));
  DescriptorLimit result;
  result.before = static_cast<std::size_t>(limit.rlim_cur);
  const rlim_t wanted = std::max(limit.rlim_cur, std::min(limit.rlim_max, kMost));
  if (wanted > limit.rlim_cur) {
    limit.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
      return fail(errno_error("cannot raise the limit of open descriptors"));
  }
  result.now = static_cast<std::size_t>(limit.rlim_cur);
  return result;
}

}  // namespace ares::os
