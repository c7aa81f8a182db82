#include "core/sched/pass/preemption_text.h"

#include <algorithm>

#include "core/cluster/preemptible.h"
#include "core/job/decide/decision_context.h"

namespace ares::core::sched {

std::string preemption_text(const ClusterState& state, const PreemptionClaim& claim) {
  constexpr std::size_t kNamed = 8;
  std::string names;
  std::size_t gone = 0;
  for (std::size_t i = 0; i < claim.victims.size(); ++i) {
    const AttemptKey& victim = claim.victims[i];
    if (i < kNamed) names += (i > 0 ? ", " : "") + job_text(victim.job);
    const Job* job = state.jobs.find(victim.job);
    const bool there = job && job->attempt == victim.attempt && holds_resources(job->state) &&
                       job->state != JobState::suspended;
    gone += there ? 0 : 1;
  }
  const std::size_t all = claim.victims.size();
  if (all > kNamed) names += " and " + std::to_string(all - kNamed) + " more";
  return "waits until " + std::to_string(all) + (all == 1 ? " job" : " jobs") +
         " that it preempts " + (all == 1 ? "has" : "have") + " ended: " + names + "; " +
         std::to_string(gone) + " of " + std::to_string(all) +
         (gone == 1 ? " has so far" : " have so far");
}

PreemptionDenial preemption_denial(const ClusterState& state, const Policy& policy, const Job& job,
                                   Time now) {
  const auto& names = job.spec->partitions;
  const bool concerned = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Partition* partition = state.partitions.find(name);
    return partition && preempts(state, policy, *partition, *job.spec);
  });
  if (!concerned || is_binding(job, now)) return {};
  if (!job.spec->gpu_alternatives.empty())
    return {"preempts no job, because it names several kinds of GPUs", std::nullopt};
  if (job.array && job.array->throttle > 0)
    return {"preempts no job, because its array limits how many of its tasks run", std::nullopt};
  if (job.preempted)
    return {"preempts no job before it has run again, because it was preempted itself",
            std::nullopt};
  const EvictionsLeft left = evictions_left(state, policy, job.spec->uid, now);
  if (left.count > 0) return {};
  const auto most = [](std::uint32_t count, const char* in) {
    return count == 0 ? std::string() : std::to_string(count) + " in " + in;
  };
  const std::string hour = most(policy.preemption.per_hour, "an hour"),
                    day = most(policy.preemption.per_day, "a day");
  return {"preempts no job now, because its user has reached the limit on preemptions: " + hour +
              (hour.empty() || day.empty() ? "" : ", ") + day,
          left.more_at};
}

}  // namespace ares::core::sched
