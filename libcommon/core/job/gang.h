// A gang as the records tell of it: jobs of one user that start together or not at all. Nothing of a gang is stored but its members'
// records. Internal to core; pure, any thread.
//
// A gang gathers until its first start, which all members have in one plan; from then on they are jobs like any other. A member that
// ends before is lost: the gang goes on without it as long as --gang-min members are left, else those that are left are cancelled.
// How many were lost is counted by members that are left (Job::gang_lost), so that one record changes with each loss.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/engine/event.h"
#include "model/engine/state.h"

namespace ares::core {

struct Gang {
  GangRequest request;
  std::vector<const Job*> members;  // that wait for their first start; ascending
  std::uint32_t lost = 0;           // members that ended before they had one

  std::uint32_t needed() const { return request.size - lost; }
  bool complete() const { return members.size() == needed(); }
};

// The gang of a member, whatever that member's own state. Precondition: the job has one.
Gang gang_of(const ClusterState& state, const Job& member);

// How many of its gang's members have not ended.
std::uint32_t remaining_members(const ClusterState& state, const Job& member);

// "3 of 4 members of gang train are here".
std::string gang_progress_text(const Gang& gang);

// The number of the gang that a new job joins: one that gathers, else none.
std::optional<JobId> open_gang_of(const ClusterState& state, const JobSpec& spec);

// What follows from the end of a member that never started: the others go on without it, or are cancelled.
std::vector<EventBody> events_of_lost_member(const ClusterState& state, const Job& lost);

// What a specification says of its gang, by itself; invalid_argument.
Status check_gang(const JobSpec& spec);

// Whether jobs of one submission may join the gangs they name; invalid_argument, or failed_precondition where the gang is
// complete or has started.
class GangAdmission {
 public:
  // The specification is settled. Counts the job as a member if it may.
  Status join(const ClusterState& state, const JobSpec& spec);

 private:
  struct Known {
    GangRequest request;
    std::string partition;
    std::uint32_t count =
        0;  // members that are here, that were lost, and that this submission brings
  };
  std::map<std::string, Known> gangs_;  // of the one user who submits, by name
};

// Whether the starts of a plan's group, taken together, start each gang they touch as a whole.
bool starts_whole_gangs(const ClusterState& state, const std::vector<JobKey>& starting);

}  // namespace ares::core
