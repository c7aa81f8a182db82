#include "os/access_list.h"

#include <endian.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>

#include <cerrno>

#include "os/fd.h"

namespace ares::os {

Status let_user_execute(const std::string& path, UserId user) {
  constexpr std::uint16_t kRunnable = ACL_READ | ACL_EXECUTE;
  const auto entry = [](std::uint16_t tag, std::uint16_t permissions, std::uint32_t id) {
    return posix_acl_xattr_entry{htole16(tag), htole16(permissions), htole32(id)};
  };
  constexpr auto kNobody = static_cast<std::uint32_t>(ACL_UNDEFINED_ID);
  // In the order that the kernel demands.
  const struct {
    posix_acl_xattr_header header;
    posix_acl_xattr_entry entries[5];
  } list{{htole32(POSIX_ACL_XATTR_VERSION)},
         {entry(ACL_USER_OBJ, kRunnable, kNobody), entry(ACL_USER, kRunnable, user.value()),
          entry(ACL_GROUP_OBJ, 0, kNobody), entry(ACL_MASK, kRunnable, kNobody),
          entry(ACL_OTHER, 0, kNobody)}};
  if (::setxattr(path.c_str(), "system.posix_acl_access", &list, sizeof list, 0) == 0) return {};
  const int reason = errno;
  Error error = errno_error("cannot let the user execute " + path, reason);
  if (reason == EOPNOTSUPP) error.code = ErrorCode::failed_precondition;
  return fail(std::move(error));
}

}  // namespace ares::os
