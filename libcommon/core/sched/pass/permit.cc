#include "core/sched/pass/permit.h"

#include <algorithm>

#include "core/job/decide/decision_context.h"
#include "core/job/gang.h"

namespace ares::core::sched {

Permit permit(const ClusterState& state, std::span<const ProposedStart> members) {
  if (members.empty()) return {false, "no job is to start"};
  const Job& first = *members.front().job;
  if (!waits_with_gang(first)) {
    if (members.size() > 1) return {false, "jobs of no gang start one by one"};
    return members.front().placement ? Permit{true, {}} : Permit{false, "no place was found"};
  }
  const Gang gang = gang_of(state, first);
  if (!gang.complete()) return {false, gang_progress_text(gang)};
  for (const Job* member : gang.members) {
    const auto found = std::find_if(members.begin(), members.end(), [&](const ProposedStart& m) {
      return m.job->key == member->key;
    });
    if (found == members.end() || !found->placement)
      return {false, "no place was found for job " + job_text(member->key) + " of gang " +
                         gang.request.name + " beside the others"};
  }
  if (members.size() != gang.members.size()) return {false, "others are to start with the gang"};
  return {true, {}};
}

}  // namespace ares::core::sched
