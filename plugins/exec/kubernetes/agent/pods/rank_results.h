// The end of a job whose script runs in the pod of each rank: it ends with its last rank, as the rank that failed first. Pure; any
// thread.
#pragma once

#include <optional>
#include <vector>

#include "model/engine/node_message.h"

namespace ares::kubernetes {

struct RankEnd {
  AttemptReport report;     // of a rank that has ended
  bool was_killed = false;  // its end was asked for
};

// Whether the rank did not end as a successful script does.
bool has_failed(const AttemptReport& report);

// Of a rank that has ended, as long as its end is not to be known.
AttemptReport as_running(AttemptReport report);

// The report of rank 0, once all have ended. `ends`: by rank, none of them missing.
AttemptReport joint_report(const std::vector<RankEnd>& ends);

}  // namespace ares::kubernetes
