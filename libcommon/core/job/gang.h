// A gang: jobs of one user that start together or not at all. Only the records of its members are
// stored. Internal to core; pure, any thread.
//
// A gang gathers members until its first start, one plan for all; then they are independent jobs.
// If a member ends before, the gang continues while --gang-min members are left, else those are
// cancelled. Remaining members count the lost ones (Job::gang_lost): a loss changes one record.
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
  // Records that wait for their first start; ascending.
  std::vector<const Job*> members;
  std::uint32_t present = 0;  // jobs and tasks in `members`
  std::uint32_t lost = 0;     // members that ended before the first start

  std::uint32_t needed() const { return request.size - lost; }
  bool complete() const { return present == needed(); }
};

// Members that the waiting record stands for: the tasks of an array without records; else one.
std::uint32_t members_in(const Job& job);

// The gang of the job, which may be in any state. Precondition: the job has a gang.
Gang gang_of(const ClusterState& state, const Job& member);

// Number of members of its gang that have not ended.
std::uint32_t remaining_members(const ClusterState& state, const Job& member);

// Number of members of its gang that hold resources and are not ending.
std::uint32_t active_members(const ClusterState& state, const Job& member);

// "3 of 4 members of gang train are here".
std::string gang_progress_text(const Gang& gang);

// The id of the gang that a new job joins; none if no gang of that name gathers members.
std::optional<JobId> open_gang_of(const ClusterState& state, const JobSpec& spec);

// Events after a job, a task, or an array of which some tasks never had a record ended without a
// start: the others go on without them or are cancelled.
std::vector<EventBody> events_of_lost_member(const ClusterState& state, const Job& lost);

// Checks the gang options of a specification by themselves; invalid_argument.
Status check_gang(const JobSpec& spec);

// Whether the jobs of one submission may join their gangs; invalid_argument, or failed_precondition
// if the gang is complete or has started.
class GangAdmission {
 public:
  // Precondition: the specification is settled. Counts the job as a member if it may join.
  Status join(const ClusterState& state, const JobSpec& spec);

 private:
  struct Known {
    GangRequest request;
    std::string partition;
    std::uint32_t count =
        0;  // members that wait, that were lost, and that this submission has added so far
  };
  std::map<std::string, Known> gangs_;  // of the submitting user, by name
};

// Whether the starts of a plan's group start each gang that they touch as a whole.
bool starts_whole_gangs(const ClusterState& state, const std::vector<JobKey>& starting);

}  // namespace ares::core
