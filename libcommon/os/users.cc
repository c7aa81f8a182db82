#include "os/users.h"

#include <grp.h>
#include <pwd.h>

#include <functional>

#include "os/fd.h"

namespace ares::os {
namespace {

// `look` is one of the getpw*_r functions with its key bound.
Result<User> find(const std::string& key,
                  const std::function<int(passwd*, char*, std::size_t, passwd**)>& look) {
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> buffer(1024);
  int error = 0;
  while ((error = look(&entry, buffer.data(), buffer.size(), &found)) == ERANGE)
    buffer.resize(buffer.size() * 2);
  if (error != 0) return fail(ErrorCode::unavailable, errno_error("user " + key, error).message);
  if (!found) return fail(ErrorCode::not_found, "no such user on this node: " + key);
  return User{entry.pw_name, UserId(entry.pw_uid), GroupId(entry.pw_gid), entry.pw_dir,
              entry.pw_shell};
}

}  // namespace

Result<User> find_user(UserId uid) {
  return find("uid " + std::to_string(uid.value()),
              [&](passwd* entry, char* buffer, std::size_t size, passwd** found) {
                return ::getpwuid_r(uid.value(), entry, buffer, size, found);
              });
}

Result<User> find_user(const std::string& name) {
  return find(name, [&](passwd* entry, char* buffer, std::size_t size, passwd** found) {
    return ::getpwnam_r(name.c_str(), entry, buffer, size, found);
  });
}

Result<std::vector<GroupId>> groups_of(const User& user, GroupId gid) {
  std::vector<gid_t> list(64);
  for (;;) {
    int count = static_cast<int>(list.size());
    if (::getgrouplist(user.name.c_str(), gid.value(), list.data(), &count) >= 0) {
      list.resize(static_cast<std::size_t>(count));
      break;
    }
    list.resize(std::max<std::size_t>(static_cast<std::size_t>(count), list.size() * 2));
  }
  std::vector<GroupId> groups;
  for (gid_t id : list) groups.emplace_back(id);
  return groups;
}

std::string group_name(GroupId gid) {
  group entry{};
  group* found = nullptr;
  std::vector<char> buffer(1024);
  while (::getgrgid_r(gid.value(), &entry, buffer.data(), buffer.size(), &found) == ERANGE)
    buffer.resize(buffer.size() * 2);
  return found ? entry.gr_name : std::string();
}

}  // namespace ares::os
