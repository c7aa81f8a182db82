#include "core/job/decide/end_jobs.h"

#include "core/job/decide/report.h"

namespace ares::core {

void end_jobs_of(const DecisionContext& q, const Node& node, const std::string& cause,
                 Decision& d) {
  const bool gone = node.contact == Contact::lost;
  for (const Charge& charge : node.charges) {
    const Job* job = q.state.jobs.find(charge.attempt.job);
    if (!job || !current_share(*job, charge.attempt, charge.fence, node.id)) continue;
    const AttemptKey attempt = charge.attempt;
    const bool ending = job->state == JobState::completing;
    if (job->state == JobState::configuring) {
      d.events.emplace_back(LaunchFailed{attempt, node.id, true, cause});
    } else if (!ending || (gone && job->ending->requeue)) {
      const bool again = job->spec->requeue && !gone;
      Ending why{JobState::node_fail, Reason::node_down, {}, again};
      why.hold = again ? job->hold : Hold::none;
      why.node_fault = true;
      why.failed_node = node.id;
      d.events.emplace_back(EndingBegan{attempt, why, cause});
    }
    if (gone) d.events.emplace_back(NodeFenced{attempt, node.id, cause});
  }
}

}  // namespace ares::core
