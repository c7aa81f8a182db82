// The machine's users, from its name service. A lookup may use the network and block, so
// supervisors must not call it. Any thread.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace ares::os {

struct User {
  std::string name;
  UserId uid;
  GroupId gid;
  std::string home;
  std::string shell;
};

Result<User> find_user(UserId uid);  // not_found: no such user on this machine
Result<User> find_user(const std::string& name);
// All groups of the user, with `gid` as primary group.
Result<std::vector<GroupId>> groups_of(const User& user, GroupId gid);

// The group's name on this machine; empty: it has none.
std::string group_name(GroupId gid);

}  // namespace ares::os
