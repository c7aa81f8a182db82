// Pass: one pass of a Planner over the queue, and the state that the planner keeps between passes.
// Internal to core/sched. planner.cc creates them, pass.cc handles entries that may start,
// pass_waiting.cc sets reasons and planned starts of entries that cannot. The pass keeps the order
// and the budget; Starter places and starts. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/accounts/limits/accrual_limits.h"
#include "core/cluster/licenses.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/pass/joint_start.h"
#include "core/sched/pass/pass_observer.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/preemptor.h"
#include "core/sched/pass/resumer.h"
#include "core/sched/pass/starter.h"
#include "core/sched/place/plugin_classes.h"
#include "core/sched/place/score_fragmentation.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/queue/order.h"
#include "core/sched/queue/service_order.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/earliest_start_cache.h"
#include "core/sched/time/expected_releases.h"
#include "core/sched/time/planned_start_ledger.h"
#include "core/sched/time/profile.h"

namespace ares::core {

// The state that is kept between passes. All of it is a function of `seen`, except for the marks of
// the last pass on the nodes in `allocated`.
struct Planner::Memory {
  Memory(const ClusterState& state, const Policy& policy, Time now)
      : seen(state),
        networks(policy.networks),
        plugins(policy.plugins),
        index(seen, &networks),
        ranking(seen, policy, index, now),
        ages(seen.accounting, seen.partitions, policy) {
    seen.partitions.for_each([&](const std::string&, const Partition& partition) {
      for (const PlacementStrategy strategy : {partition.placement.cpu, partition.placement.gpu})
        uses_workload = uses_workload || strategy == PlacementStrategy::least_fragmentation;
    });
    if (uses_workload) index.set_workload(&workload);
    set_plugins(index, plugins, &networks);
    if (uses_workload) workload.update(ClusterState{}, seen, index);
    queue.fill(seen, ranking);
  }

  // From time to time proposes which jobs may begin to accrue age.
  void look_at_ages(const Policy& policy, Time now, Plan& plan);

  // Keeps the records alive that index and queue point to.
  ClusterState seen;
  Networks networks;
  SharedPlugins plugins;
  sched::ClusterIndex index;
  sched::Ranking ranking;
  // Updated only if `uses_workload`, which is set if some partition's placement strategy needs it.
  sched::WorkloadHistogram workload;
  bool uses_workload = false;
  sched::Queue queue;
  sched::ExpectedReleases releases;
  UsageTotals sums;
  AccrualLimits ages;
  // When age accrual was last checked.
  Time ages_seen = Time::min();
  sched::JobClasses job_classes;
  sched::EarliestStartCache earliest_starts;  // of job_classes
  PendingInfos reasons;
  const sched::PendingPtr first_reason = sched::make_info(Reason::resources),
                          waiting_reason = sched::make_info(Reason::priority),
                          plugin_reason = sched::make_info(Reason::plugin);
  std::vector<sched::NodeIndex> allocated;
};

// One pass over the queue. Lives for one call of Planner::plan().
class Planner::Pass {
 public:
  Pass(Memory& memory, const ClusterState& state, const Policy& policy, Budget budget, Time now,
       sched::PassObserver* observer);

  Plan run();

 private:
  using Refused = std::optional<sched::Refusal>;

  // A gang that the pass has considered, when it reached the first member.
  struct GangTurn {
    Gang gang;
    std::vector<sched::Member> members;
    std::map<JobKey, sched::PendingPtr> reasons;  // empty: it starts
    std::vector<sched::Queued*> seen;             // members that the pass has reached
  };

  // The next entry to consider; null at the end.
  sched::Queued* next();

  // Whether the entry keeps its reason and needs no consideration, as most of a long queue does.
  bool keeps_waiting(const sched::JobClass& job_class, std::optional<Seconds> limit) const;

  void consider(sched::Queued& queued);

  // Considers the jobs with preemption claims before all others.
  void serve_claims();
  void serve_claim(sched::Preemptor::ClaimedStart& claimed);

  // Resumes jobs of that tier or a higher one that were suspended for other jobs, or plans their
  // resumption.
  void resume_suspended(std::int32_t tier);

  // Whether the entry was considered before the ordered walk through the queue reached it: because
  // of its claim, or with its gang.
  bool already_served(sched::Queued& queued);

  bool preempt_for(sched::Queued& queued, sched::StartGroup& group);

  // Tries the partitions in preempt_later_; whether it preempts in one of them.
  bool preempt_late(const JobKey& key);

  sched::JobClass& job_class_of(sched::Queued& queued, bool relaxed);

  // A gang is considered once, when its highest-ranked member is reached.
  void consider_gang(sched::Queued& queued);
  // Whether only nodes, limits or licences can keep the gang from starting.
  bool admit_gang(sched::Queued& queued, GangTurn& turn);

  // Considers an entry for which more than free nodes decides.
  void consider_with_checks(sched::Queued& queued);

  // Whether only nodes can keep the entry from starting. If something else does, sets that as its
  // reason.
  bool may_start(sched::Queued& queued);

  // Called for an entry that waits only for limits that others use up: reserves its headroom in
  // these limits.
  void keep_limits(sched::Queued& queued);

  // Starts the waiting tasks of the entry. None: each was started or waits for the user's next
  // turn.
  Refused start_tasks(sched::Queued& queued, sched::JobClass& job_class);

  Refused start_one(sched::Queued& queued, TaskIndex task, sched::JobClass& job_class);

  void clear_reason(sched::Queued& queued);

  // The time limit of a start now, which a deadline may shorten.
  std::optional<Seconds> limit_now(const sched::Queued& queued) const;

  // The queued job alone, with the time limit that it gets if it starts now.
  sched::Member member_of(const sched::Queued& queued, TaskIndex task,
                          sched::JobClass& job_class) const;

  // Jobs that request reservations form queues of their own. For a static entry, which requests
  // none, the record is not read.
  static const sched::PlannedStartLedger::Reservations& reservations_of(
      const sched::Queued& queued);

  // Called if the entry cannot start now: sets the reason and, if the backfill rule allows it,
  // plans a start.
  void block(sched::Queued& queued, sched::JobClass& job_class, const sched::Refusal& refusal);
  void block(sched::Queued& queued, sched::StartGroup& group, const sched::Refusal& refusal);

  // The reason of an entry without planned start, which delays no other job.
  sched::PendingPtr reason_without_planned_start(const sched::Queued& queued,
                                                 const sched::StartGroup& group);

  // Of a job alone it is shared by all jobs of the class, so that setting it again costs nothing.
  sched::PendingPtr waiting_reason(const sched::StartGroup& group, bool first);
  sched::PendingPtr waiting_reason(sched::JobClass& job_class, bool first);

  // Computes when and where the group will start, keeps these resources free, and adds both to the
  // reasons, one for each member. `estimated`: the group has no planned start; it is computed as if
  // it had. Returns whether it can start at any time.
  bool plan_start(sched::StartGroup& group, std::span<sched::PendingPtr> reasons, bool estimated);
  std::optional<sched::JointStart> find_start(sched::StartGroup& group,
                                              std::vector<sched::JobClass*>& classes,
                                              bool estimated);
  bool over_limits_alone(const sched::StartGroup& group, std::span<sched::PendingPtr> reasons);

  // Called when nothing starts any more: computes the expected starts of waiting entries one after
  // the other, as if each got a planned start.
  void estimate();
  void estimate(sched::Queued& queued);

  void set_reason(sched::Queued& queued, sched::PendingPtr info);
  // Of all members, also of those that the pass has not reached yet. `of`: only this member is kept
  // from starting, the others wait for it; null: all are.
  void set_reasons(sched::Queued& queued, const sched::StartGroup& group, sched::PendingPtr info,
                   const sched::Member* of = nullptr);
  void set_reasons(sched::Queued& queued, const sched::StartGroup& group,
                   std::span<const sched::PendingPtr> reasons);
  void update_waiting(sched::Queued& queued);

  void publish_choices();

  Memory& memory_;
  const ClusterState& state_;
  sched::ClusterIndex& index_;
  const Budget budget_;
  Time now_;
  LimitUse use_;
  sched::ServiceOrder service_order_;
  sched::Profile profile_;
  LicensePool licenses_;
  sched::PlannedStartLedger planned_starts_;
  sched::SearchBudget work_;
  sched::Preemptor preemptor_;
  sched::Resumer resumer_;
  std::map<JobKey, sched::PendingPtr> claim_reasons_;  // reasons of jobs with claims
  // Entries of jobs with several partitions. All partitions are tried before any job is preempted.
  std::map<JobKey, std::vector<sched::Queued*>> preempt_later_;
  std::vector<JobKey> preempt_order_;  // in which their first entries were served
  sched::PassObserver* const observer_;
  std::uint64_t pass_ = 0;
  Plan plan_;
  sched::ArrayStarts array_starts_;
  // Next task of each array; the tasks before it were started.
  std::map<JobKey, IntervalSet::Iterator> next_task_;
  std::set<JobKey> started_;
  std::map<JobKey, sched::PendingPtr> choices_;  // for jobs with several partitions
  std::vector<sched::Queued*> blocked_;
  sched::Starter starter_;
  std::map<JobId, GangTurn> gangs_;  // by number
};

}  // namespace ares::core
