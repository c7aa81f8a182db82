// The machine's users, by its name service: may ask over the network and hang, so never called by a supervisor.
// Any thread.
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
// All groups of the user when his primary group is `gid`.
Result<std::vector<GroupId>> groups_of(const User& user, GroupId gid);

}  // namespace ares::os
