#include "core/sched/why/estimate.h"

#include <algorithm>

#include "core/cluster/time_limit.h"
#include "core/job/apply/apply.h"
#include "core/job/decide/decision_context.h"
#include "core/sched/pass/plan.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/alternatives.h"
#include "core/sched/time/backfill.h"
#include "core/sched/why/explainer.h"

namespace ares::core {
namespace {

using namespace sched;

// Work units with which one request takes well under a second on the largest cluster.
constexpr Budget kBudget{.units = 2'000'000, .estimates = 64, .details = false};

// Adds the job to the state as its submission would. Returns its key.
Result<JobKey> add(ClusterState& state, const Policy& policy, const Principal& who,
                   const Submit& submit, Time now) {
  const Decision decision = decide_submit({state, policy, now}, who, submit);
  if (decision.failed) return fail(decision.error);
  for (const EventBody& body : decision.events)
    apply(state, Event{state.lsn.next(), state.epoch, now, body});
  return decision.jobs.front();
}

bool fill_in_start(const ClusterState& state, const Plan& plan, JobId id, Time now,
                   StartEstimate& out) {
  for (const PlanGroup& group : plan.groups)
    for (const Start& start : group.starts) {
      if (start.key.job != id) continue;
      out.start = now;
      out.partition = start.partition;
      for (const NodeShare& share : start.nodes) {
        out.nodes.push_back(state.nodes.find(share.node)->name);
        out.cpus += share.cpus;
      }
      return true;
    }
  return false;
}

// The earliest start in any of its partitions if no other job waited.
void fill_in_alone(const ClusterState& state, const Policy& policy, const Job& job, Time now,
                   StartEstimate& out) {
  ClusterIndex index(state, &policy.networks);
  set_plugins(index, policy.plugins, &policy.networks);
  ExpectedReleases releases;
  const Profile profile(state, index, releases, now);
  const Time not_before = std::max({now, job.spec->begin.value_or(now), job.not_before});
  JobClasses job_classes;
  job_classes.begin_pass();
  for (std::uint32_t choice = 0; choice < job.spec->partitions.size(); ++choice) {
    const std::string& name = job.spec->partitions[choice];
    const Partition* partition = state.partitions.find(name);
    if (!partition) continue;
    const auto limit = time_limit_of(job, *partition);
    JobClass* job_class = &job_classes.of({&job, partition, choice}, index);
    SearchBudget work(kBudget.units);
    const auto found = earliest_alternative(job_class, limit, [&](const JobClass& one) {
      return one.candidates.problem.empty()
                 ? find_earliest_start(one.demand, limit,
                                       {one.candidates.usable, one.candidates.required}, index,
                                       profile, work)
                 : std::nullopt;
    });
    if (!found || found->at >= profile.horizon()) continue;
    const Time at = std::max(found->at, not_before);
    if (out.start && *out.start <= at) continue;
    out.start = at;
    out.partition = name;
    out.nodes.clear();
    out.cpus = 0;
    for (const PlacedShare& share : found->placement) {
      if (found->at >= not_before) out.nodes.push_back(index.nodes()[share.node].node->name);
      out.cpus += index.whole_cpus_of(share.amounts[kCpus]);
    }
  }
}

// Sets when the job would start and, in short, why not at once. Returns false if it would start at
// once.
bool waits(const ClusterState& state, const Policy& policy, const Plan& plan, const Job& job,
           Time now, StartEstimate& out) {
  if (auto why = blocked_by_record(job)) {
    out.waiting = *std::move(why);
    return true;
  }
  if (fill_in_start(state, plan, job.key.job, now, out)) return false;

  out.waiting = Explainer(state, policy).explain(job, now);
  const PendingInfo* seen = plan.pending.find(job.key);
  if (seen) out.waiting.reason = seen->reason;
  if (seen && !seen->detail.empty()) out.waiting.detail = seen->detail;
  if (out.waiting.reason == Reason::preempting && seen && seen->expected_start) {
    out.start = seen->expected_start;
    for (const NodeId node : seen->expected_nodes)
      out.nodes.push_back(state.nodes.find(node)->name);
    return true;
  }
  const bool waits_its_turn =
      out.waiting.reason == Reason::resources || out.waiting.reason == Reason::priority ||
      ((out.waiting.reason == Reason::reservation || out.waiting.reason == Reason::plugin) &&
       seen && seen->expected_start);
  if (!waits_its_turn && out.waiting.reason != Reason::begin_time) return true;

  fill_in_alone(state, policy, job, now, out);
  if (!waits_its_turn || !out.start) return true;
  // The pass computed its expected start.
  if (seen && seen->expected_start) {
    if (*seen->expected_start != *out.start) out.nodes.clear();
    out.start = seen->expected_start;
  } else {
    out.at_the_earliest = true;
    out.nodes.clear();
  }
  return true;
}

}  // namespace

Result<StartEstimate> estimate_start(const ClusterState& state, const Policy& policy,
                                     const Principal& who, const Submit& submit, Time now) {
  ClusterState with = state;
  now = std::max(now, state.now);
  const auto key = add(with, policy, who, submit, now);
  if (!key) return fail(key.error());
  const Job& job = *with.jobs.find(*key);

  StartEstimate out;
  out.partition = job.spec->partitions.front();
  const Plan plan = core::plan(with, policy, kBudget, now);
  if (waits(with, policy, plan, job, now, out))
    out.why = explain_job(with, policy, job, plan.pending.find(*key), now);
  return out;
}

}  // namespace ares::core
