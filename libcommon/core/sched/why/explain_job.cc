#include "core/sched/why/explanation.h"

#include <algorithm>
#include <memory>

#include "core/cluster/preemptible.h"
#include "core/fairness/priority.h"
#include "core/job/checks/submit_checks.h"
#include "core/sched/pass/preemption_text.h"
#include "core/sched/queue/ranking.h"
#include "core/sched/why/change_search.h"
#include "core/sched/why/explainer.h"
#include "core/sched/why/wait_causes.h"

namespace ares::core {

using namespace sched;

namespace {

// Number of other partitions that are tried; few sites have more.
constexpr std::size_t kPartitionsTried = 16;
// Number of changes that are checked and reported at most.
constexpr std::size_t kMaxChanges = 8;

bool is_throttled(const ClusterState& state, const Job& job) {
  return throttle_allowance(state, job, {}) == 0;
}

// The job with additional partitions that it might use, after its own.
Job with_more_partitions(const ClusterState& state, Job job) {
  auto spec = std::make_shared<JobSpec>(*job.spec);
  std::size_t more = 0;
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    const bool own =
        std::find(spec->partitions.begin(), spec->partitions.end(), name) != spec->partitions.end();
    if (own || !partition.up || !partition.open || !partition.allow_groups.empty()) return;
    if (more++ < kPartitionsTried) spec->partitions.push_back(name);
  });
  job.spec = std::move(spec);
  return job;
}

ClusterState with_job(const ClusterState& state, const Job& job) {
  ClusterState out = state;
  out.pending.set(job.key, job.version);
  out.jobs.set(job.key, job);
  return out;
}

// Follows the pass until it reaches the job in its last partition.
class ExplainObserver final : public PassObserver {
 public:
  ExplainObserver(const ClusterState& state, const Policy& policy, const Job& job,
                  const UnblockedJob& unblocked, Time now, const ExplainBudget& budget)
      : state_(state),
        job_(job),
        now_(now),
        units_(budget.what_if_units),
        what_if_(state, policy, now, budget.what_if_units),
        search_(what_if_, unblocked, planned_starts_, now) {}

  bool observes(const JobKey& record) const override { return record == job_.key; }

  void on_job(const PassView& view) override {
    ++views_seen_;
    const std::size_t own = job_.spec->partitions.size();
    if (view.entry.choice >= own) return search_.search_partition(view);
    // For the unchanged job, not the one without blocking conditions.
    const QueueEntry entry{&job_, view.entry.partition, view.entry.choice};
    const PassView as_is{entry,         view.index, view.profile, view.licenses,
                         view.starting, view.use,   view.closed,  view.exhausted};
    WaitAnalysis analysis = analyze_view(state_, as_is, planned_starts_, now_, units_);
    starts = starts || analysis.causes.empty();
    std::move(analysis.causes.begin(), analysis.causes.end(), std::back_inserter(causes));
    if (analysis.earliest && (!earliest || analysis.earliest->at < earliest->first)) {
      std::vector<NodeId> nodes;
      for (const PlacedShare& share : analysis.earliest->placement)
        nodes.push_back(view.index.nodes()[share.node].node->id);
      earliest.emplace(analysis.earliest->at, std::move(nodes));
    }
    if (view.entry.partition) search_.search(as_is);
  }

  void on_planned_start(const QueueEntry& entry, const EarliestStart& reservation) override {
    DelayedStart planned_start{entry.job->key, reservation.at, {}};
    for (const PlacedShare& share : reservation.placement)
      planned_start.nodes.push_back(node_id(share.node));
    planned_starts_.push_back(std::move(planned_start));
  }

  bool done() const override { return views_seen_ == entries; }

  std::vector<SuggestedChange> changes() { return search_.take(); }
  bool cut() const { return what_if_.exhausted(); }

  // Number of entries of the job in the queue.
  std::size_t entries = 0;
  std::vector<WaitCause> causes;
  bool starts = false;
  std::optional<std::pair<Time, std::vector<NodeId>>> earliest;

 private:
  // Positions are in the order of node ids.
  NodeId node_id(NodeIndex at) {
    if (ids_.empty()) state_.nodes.for_each([&](NodeId id, const Node&) { ids_.push_back(id); });
    return ids_[at];
  }

  const ClusterState& state_;
  const Job& job_;
  const Time now_;
  const std::uint64_t units_;
  std::size_t views_seen_ = 0;
  std::vector<NodeId> ids_;
  std::vector<DelayedStart> planned_starts_;
  WhatIf what_if_;
  ChangeSearch search_;
};

bool starts_in(const Plan& plan, const JobKey& key) {
  for (const PlanGroup& group : plan.groups)
    for (const auto& [record, version] : group.jobs)
      if (record == key && !group.starts.empty()) return true;
  return false;
}

// Whether the changed job could be submitted and a complete pass would start it.
bool is_confirmed(const ClusterState& state, const Policy& policy, Planner& planner, const Job& job,
                  Time now, const ExplainBudget& budget) {
  const std::vector<std::string>& partitions = job.spec->partitions;
  if (!check_partitions({state, policy, now}, *job.spec, partitions)) return false;
  const Budget pass{.units = budget.pass_units, .estimates = 0, .details = false};
  return starts_in(planner.plan(with_job(state, job), policy, pass, now), job.key);
}

PriorityExplanation priority_of(const ClusterState& state, const Policy& policy, const Job& job,
                                Time now) {
  PriorityExplanation out;
  out.value = std::max(job.priority, 1u);  // as listings show it
  out.set = job.priority_set;
  const std::string& name = job.spec->partitions.front();
  if (policy.fairness.value) out.policy = policy.fairness.value->policy_of(name);
  const QueueEntry entry{&job, state.partitions.find(name), 0};
  if (Ranking::is_plain(policy) || !entry.partition) return out;
  ClusterIndex index(state);
  const Ranking ranking(state, policy, index, now);
  if (out.policy == QueuePolicy::fair_tree)
    out.standing = "rank " + std::to_string(-ranking.rank_of(entry).value) +
                   " in the tree of accounts (the highest is served first)";
  if (out.policy != QueuePolicy::multifactor) return out;
  const fairness::Priority priority = ranking.priority_of(entry);
  if (!out.set) out.value = priority.value;
  for (const fairness::FactorRow& row : fairness::factor_table()) {
    const fairness::FactorValue& factor = priority.factors[static_cast<std::size_t>(row.factor)];
    out.factors.push_back(
        {row.name, row.weight(*policy.fairness.value), factor.normalised, factor.weighted});
  }
  return out;
}

// Whether no start can be expected: the job waits for more than resources, its turn or a time, for
// example for a user's action or another job.
bool leaves_start_unknown(const WaitCause& cause) {
  return cause.reason != Reason::resources && cause.reason != Reason::priority &&
         cause.reason != Reason::begin_time && cause.reason != Reason::reservation &&
         cause.reason != Reason::preempting && cause.reason != Reason::plugin;
}

bool start_is_unknown(const std::vector<WaitCause>& causes) {
  return std::any_of(causes.begin(), causes.end(), leaves_start_unknown);
}

// The pass looks no further than a time that is still to come. Whether the job can start then, in
// one of its partitions, the causes say.
bool is_only_a_time(const PendingInfo& known, const Job& job,
                    const std::vector<WaitCause>& causes) {
  if (known.reason != Reason::begin_time && known.reason != Reason::reservation) return false;
  const std::vector<std::string>& partitions = job.spec->partitions;
  return std::all_of(partitions.begin(), partitions.end(), [&](const std::string& name) {
    return std::any_of(causes.begin(), causes.end(), [&](const WaitCause& cause) {
      return leaves_start_unknown(cause) && (cause.partition.empty() || cause.partition == name);
    });
  });
}

void add_start(const Job& job, const PendingInfo* known, const ExplainObserver& seen, bool kept,
               JobExplanation& why) {
  if (known && known->expected_start && !is_only_a_time(*known, job, why.causes)) {
    why.start = known->expected_start;
    why.nodes = known->expected_nodes;
  } else if (seen.earliest && !kept) {
    std::tie(why.start, why.nodes) = *seen.earliest;
    why.at_the_earliest = why.jobs_ahead > 0;
    for (const WaitCause& cause : why.causes)
      if (cause.reason == Reason::begin_time && cause.until && *cause.until > *why.start) {
        why.start = cause.until;
        why.nodes.clear();
      }
  }
}

// A gang is planned as a whole, so a change that lets only one member start would not help it.
JobExplanation explain_member(const ClusterState& state, const Policy& policy, const Job& job,
                              const PendingInfo* known, Time now, const ExplainBudget& budget) {
  JobExplanation why;
  why.causes = causes_of_record(state, job);
  why.priority = priority_of(state, policy, job, now);
  if (!why.causes.empty()) return why;
  const Budget pass{.units = budget.pass_units, .estimates = 64, .details = false};
  const Plan plan = core::plan(state, policy, pass, now);
  why.starts_now = starts_in(plan, job.key);
  if (why.starts_now) return why;
  why.jobs_ahead = JobsAhead(state, policy, now).of(job);
  const PendingInfo* seen = plan.pending.find(job.key);
  PendingInfo told = seen ? *seen : PendingInfo{};
  if (told.detail.empty()) told.detail = Explainer(state, policy).explain(job, now).detail;
  why.causes.push_back(
      {told.reason, job.spec->partitions.front(), std::move(told.detail), std::nullopt, {}});
  const PendingInfo& start = known && known->expected_start ? *known : told;
  why.start = start.expected_start;
  why.nodes = start.expected_nodes;
  return why;
}

}  // namespace

JobExplanation explain_job(const ClusterState& state, const Policy& policy, const Job& job,
                           const PendingInfo* known, Time now, const ExplainBudget& budget) {
  if (waits_with_gang(job)) return explain_member(state, policy, job, known, now, budget);
  JobExplanation why;
  why.causes = causes_of_record(state, job);
  if (is_binding(job, now))
    why.causes.push_back({Reason::preempting,
                          job.preemption_claim->partition,
                          preemption_text(state, *job.preemption_claim),
                          job.preemption_claim->ready,
                          {}});
  const UnblockedJob free = unblock(job, is_throttled(state, job), now);
  // The pass reaches the job only if it is in the queue.
  Job watched = free.job;
  watched = with_more_partitions(state, std::move(watched));

  Planner planner;
  ExplainObserver observer(state, policy, job, free, now, budget);
  observer.entries = watched.spec->partitions.size();
  const Budget pass{.units = budget.pass_units, .estimates = 0, .details = false};
  planner.plan(with_job(state, watched), policy, pass, now, &observer);

  why.starts_now = why.causes.empty() && observer.starts;
  const bool kept = !why.causes.empty();
  if (!why.starts_now)
    std::move(observer.causes.begin(), observer.causes.end(), std::back_inserter(why.causes));
  if (PreemptionDenial denial = preemption_denial(state, policy, free.job, now);
      !why.starts_now && !denial.text.empty())
    why.causes.push_back({Reason::preempting, {}, std::move(denial.text), denial.until, {}});
  why.jobs_ahead = JobsAhead(state, policy, now).of(free.job);
  add_start(job, known, observer, kept || start_is_unknown(why.causes), why);
  why.priority = priority_of(state, policy, free.job, now);
  if (why.starts_now) return why;

  const std::uint64_t one = state.pending.size() + state.nodes.size() + 1;
  const std::uint64_t most = std::max<std::uint64_t>(budget.check_units / one, 1);
  why.cut = observer.cut();
  std::uint64_t checked = 0;
  for (SuggestedChange& change : observer.changes()) {
    if (checked == most || why.changes.size() == kMaxChanges) {
      why.cut = true;
      break;
    }
    ++checked;
    if (is_confirmed(state, policy, planner, change.job, now, budget))
      why.changes.push_back(std::move(change));
  }
  return why;
}

}  // namespace ares::core
