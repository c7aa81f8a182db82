// admit_gang(): admit() for a gang: whether all members are present and only resources can keep
// them from starting together. Pure; called once per pass for each gang.
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
  // By member, without members that their own record blocks: why the gang is not considered. Empty:
  // it is considered.
  std::map<JobKey, PendingInfo> refused;
  // When the result may change with time alone.
  std::optional<Time> wake;
};

// Whether all members are present and only limits that other jobs use up keep them from starting.
bool waits_for_limits(const GangAdmissionStatus& admission);

// For example "starts together with the 3 others of gang train; ". Begins the reason of a member
// that waits only for resources.
std::string gang_start_text(const Gang& gang);

// Precondition: the member waits with its gang.
// `use`: as for admit().
GangAdmissionStatus admit_gang(const ClusterState& state, LimitUse& use, const Job& member,
                               Time now);

}  // namespace ares::core::sched
