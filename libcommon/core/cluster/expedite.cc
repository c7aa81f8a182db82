#include "core/cluster/expedite.h"

#include <algorithm>

namespace ares::core {
namespace {

// The number of returns in a row, with one that begins now.
std::uint32_t returns_with_next(const Policy& policy, const Job& job, Time now) {
  const bool ran_long = job.started && now - *job.started >= policy.expedite.long_run;
  return ran_long ? 1 : job.expedited_returns + 1;
}

// A failure of a node also counts for a job that has spare nodes, because these are to replace it.
bool is_failure_to_return_from(const JobSpec& spec, const Ending& ending) {
  if (!ending.requeue || ending.preempted || ending.hold != Hold::none) return false;
  if (ending.state == JobState::node_fail) return spec.expedite || spec.spare_nodes > 0;
  return ending.state == JobState::failed && spec.expedite;
}

bool is_healthy(const Job& job, const NodeShare& share, const Node& node) {
  const auto& excluded = job.excluded;
  return share.phase != SharePhase::fenced && takes_jobs(node) && !node.leaving &&
         node.incarnation == share.incarnation && job.ending->failed_node != share.node &&
         std::find(excluded.begin(), excluded.end(), share.node) == excluded.end();
}

}  // namespace

bool returns_after_failed_script(const Policy& policy, const Job& job, Time now) {
  return job.spec->expedite && job.spec->requeue &&
         returns_with_next(policy, job, now) <= policy.expedite.most;
}

std::optional<ExpediteBegan> expedite_of(const ClusterState& state, const Policy& policy,
                                         const Job& job, Time now) {
  if (job.state != JobState::completing || job.expedited || !job.ending || !job.allocation ||
      !is_failure_to_return_from(*job.spec, *job.ending))
    return std::nullopt;
  const std::uint32_t returns = returns_with_next(policy, job, now);
  // That a failed script returns was decided when it ended.
  if (job.ending->state == JobState::node_fail && returns > policy.expedite.most)
    return std::nullopt;
  ExpediteBegan began{{job.key, job.attempt}, {{}, now + policy.expedite.keep}, returns};
  if (policy.expedite.keep <= Seconds{0}) return began;
  for (const NodeShare& share : job.allocation->nodes) {
    const Node* node = state.nodes.find(share.node);
    if (node && is_healthy(job, share, *node) && !is_kept_for_another(state, share.node, job.key))
      began.expedited.nodes.push_back(share.node);
  }
  std::sort(began.expedited.nodes.begin(), began.expedited.nodes.end());
  return began;
}

bool is_kept_for_another(const ClusterState& state, NodeId node, const JobKey& job) {
  const JobKey* kept = state.kept_nodes.find(node);
  return kept && *kept != job;
}

}  // namespace ares::core
