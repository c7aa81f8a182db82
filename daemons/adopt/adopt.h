// What ares-adopt does: whether a user has a running job on this node, by the records in the spool,
// and putting a process into the control groups of that job. Used by main() and tests; one thread.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/engine/node_message.h"
#include "node/records.h"

namespace ares::adopt {

struct RunningJob {
  AttemptKey attempt;
  Time since{};                     // when its script started
  std::vector<std::string> groups;  // directories of its control groups that exist
};

// Jobs of that user whose scripts run on this node now, the latest first. The name is that of the
// node's name service.
std::vector<RunningJob> running_jobs(const node::Spool& spool, std::string_view user,
                                     std::string_view boot_id);

// Puts the process, which may be any, into the control groups of the latest of these jobs that
// takes it. It then ends with the job. permission_denied: the user has no job here.
// failed_precondition: no job of the user can take it, and why.
Status adopt(const node::Spool& spool, std::string_view user, std::string_view boot_id,
             pid_t process);

}  // namespace ares::adopt
