// gather(): admit() for a gang: whether all of its members are here and nothing but room keeps them from starting together.
// Pure; looked at once a pass for each gang.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/job/gang.h"
#include "core/sched/queue/admit.h"
#include "model/engine/plan.h"

namespace ares::core::sched {

struct GangAdmissionStatus {
  Gang gang;
  // By member, of those that nothing of their own record keeps back, why the gang is not considered; empty: it is.
  std::map<JobKey, PendingInfo> refused;
  std::optional<Time> wake;  // when time alone may change the answer
};

// "starts together with the 3 others of gang train; ", for what is said of a member that could start but for room.
std::string gang_start_text(const Gang& gang);

// Precondition: the member waits with its gang.
// `use`: as of admit().
GangAdmissionStatus admit_gang(const ClusterState& state, LimitUse& use, const Job& member,
                               Time now);

}  // namespace ares::core::sched
