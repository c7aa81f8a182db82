// A /tmp and a /var/tmp that only one job sees. Called in the job's first process, before it becomes
// the user; single-threaded.
#pragma once

#include <string>

#include "base/result.h"

namespace ares::os {

// This process and its descendants see two new directories below `directory` as /tmp and /var/tmp.
// `directory` and its missing parents are made. It needs the right to make a mount namespace.
Status enter_private_tmp(const std::string& directory);

// Whether a job with a /tmp of its own does not see the machine's file of that path.
bool hidden_by_private_tmp(const std::string& path);

}  // namespace ares::os
