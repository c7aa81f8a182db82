#include "aresstepd/become_user.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <limits>

#include "os/fd.h"

namespace ares::stepd {
namespace {

Status become(const node::StepSpec& spec) {
  const uid_t uid = spec.launch.spec->uid.value();
  const gid_t gid = spec.user.gid.value();
  if (::geteuid() != 0) {
    if (::geteuid() == uid) return {};
    return fail(ErrorCode::permission_denied,
                "aresd does not run as root and cannot run jobs of other users");
  }
  std::vector<gid_t> groups;
  for (const GroupId group : spec.user.groups) groups.push_back(group.value());
  if (groups.empty()) groups.push_back(gid);
  if (::setgroups(groups.size(), groups.data()) != 0)
    return fail(os::errno_error("cannot set the user's groups"));
  if (::setresgid(gid, gid, gid) != 0)
    return fail(os::errno_error("cannot become the user's group"));
  if (::setresuid(uid, uid, uid) != 0) return fail(os::errno_error("cannot become the user"));
  if (uid != 0 && ::setuid(0) == 0)
    return fail(ErrorCode::internal, "root could be taken back after becoming the user");
  return {};
}

}  // namespace

void set_limits(const std::vector<ResourceLimit>& limits) {
  for (const ResourceLimit& limit : limits) {
    const auto resource = static_cast<__rlimit_resource_t>(limit.resource);
    rlimit current{};
    if (::getrlimit(resource, &current) != 0) continue;
    const rlim_t wanted = limit.soft == std::numeric_limits<std::uint64_t>::max()
                              ? RLIM_INFINITY
                              : static_cast<rlim_t>(limit.soft);
    current.rlim_cur = std::min(wanted, current.rlim_max);
    (void)::setrlimit(resource, &current);
  }
}

Status become_user(const node::StepSpec& spec) {
  if (Status became = become(spec); !became) return became;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // changing the uid cleared it
  ::prctl(PR_SET_DUMPABLE, 1);
  return {};
}

}  // namespace ares::stepd
