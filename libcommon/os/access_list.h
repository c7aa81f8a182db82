// POSIX access control lists, as file systems store them. Any thread.
#pragma once

#include <string>

#include "base/ids.h"
#include "base/result.h"

namespace ares::os {

// Replaces the permissions of the file: its owner and `user` may read and execute it, others may do
// nothing. Only the owner and root can change it or its permissions. failed_precondition: the file
// system has no access control lists.
Status let_user_execute(const std::string& path, UserId user);

}  // namespace ares::os
