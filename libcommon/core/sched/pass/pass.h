// Pass: one pass of a Planner over the queue, and what the planner keeps from pass to pass. Internal to core/sched: plan.cc makes them,
// pass.cc has the turns of those that may start, pass_waiting.cc what is said and promised to those that cannot. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/accounts/limits/accrual_limits.h"
#include "core/cluster/licenses.h"
#include "core/sched/index/cluster_index.h"
#include "core/sched/pass/gang_scheduler.h"
#include "core/sched/pass/pass_observer.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/preemptor.h"
#include "core/sched/pass/resumer.h"
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

inline sched::PendingPtr make_info(Reason reason, std::string detail = {}) {
  return std::make_shared<const PendingInfo>(
      PendingInfo{reason, std::move(detail), std::nullopt, {}});
}

// What is kept from pass to pass. Everything in it is a function of `seen`, but for what the last pass marked on `given`.
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

  // From time to time who may begin to gain age is proposed as well.
  void look_at_ages(const Policy& policy, Time now, Plan& plan);

  ClusterState seen;  // keeps the records alive that index and queue point to
  Networks networks;
  SharedPlugins plugins;
  sched::ClusterIndex index;
  sched::Ranking ranking;
  sched::WorkloadHistogram workload;  // kept only if
  bool uses_workload = false;         // a partition places its jobs by it
  sched::Queue queue;
  sched::ExpectedReleases releases;
  UsageTotals sums;
  AccrualLimits ages;
  Time ages_seen = Time::min();  // the moment at which was looked who may gain age
  sched::JobClasses job_classes;
  sched::EarliestStartCache earliest_starts;  // of these
  PendingInfos reasons;
  const sched::PendingPtr first_reason = make_info(Reason::resources),
                          waiting_reason = make_info(Reason::priority),
                          plugin_reason = make_info(Reason::plugin);
  std::vector<sched::NodeIndex> allocated;
};

// One pass over the queue. Lives for one call of plan().
class Planner::Pass {
 public:
  Pass(Memory& memory, const ClusterState& state, const Policy& policy, Budget budget, Time now,
       sched::PassObserver* observer);

  Plan run();

 private:
  // Whoever has a turn; null at the end.
  sched::Queued* next();

  // Most of a long queue waits on as it did.
  bool keeps_waiting(const sched::JobClass& job_class, std::optional<Seconds> limit) const;

  void consider(sched::Queued& queued);

  // Those that others were ended for come before everybody else.
  void serve_claims();

  // Those of that tier or a higher one that made room for others go on, or are promised that they will.
  void resume_suspended(std::int32_t tier);

  // Whether it had its turn before the others.
  bool already_served(sched::Queued& queued);

  bool preempt_for(sched::Queued& queued, const sched::JobClass& job_class);

  void preempt_late();

  sched::JobClass& job_class_of(sched::Queued& queued, bool relaxed);

  void consider_gang(sched::Queued& queued);

  // Something else than nodes has a say as well.
  void consider_with_checks(sched::Queued& queued);

  // Whether nothing but nodes keeps it from starting. If something does, that is said.
  bool may_start(sched::Queued& queued);

  // Only what others run keeps it from starting: they do not go on with that for ever.
  void keep_limits(sched::Queued& queued);

  // Whether every waiting task could be started, or waits for its user's next turn.
  bool start_tasks(sched::Queued& queued, sched::JobClass& job_class);

  bool start_one(sched::Queued& queued, TaskIndex task, sched::JobClass& job_class);

  void allocate(const sched::QueueEntry& entry, TaskIndex task, std::optional<Seconds> limit,
                const std::vector<LicenseRequest>& licenses, const sched::Placement& placement,
                std::uint32_t alternative = 0);

  // How a job would start.
  struct StartTerms {
    const sched::Placement& placement;
    const std::vector<LicenseRequest>& licenses;
    std::optional<Seconds> limit;
  };
  // Whether limits and plugins let the job start so; if not, `refusal_` says so.
  bool permitted(const sched::QueueEntry& entry, TaskIndex task, const StartTerms& terms);
  bool within_limits(const sched::QueueEntry& entry, const StartTerms& terms);

  void clear_reason(sched::Queued& queued);

  // A deadline shortens it.
  std::optional<Seconds> limit_now(const sched::Queued& queued) const;

  // Where the promises of others leave no room for all of `limit`, a job that allows it gets as much as they leave.
  std::optional<sched::Placement> place(const JobSpec& spec, sched::JobClass& job_class,
                                        std::optional<Seconds>& limit);

  // As one of its alternatives; none also where a cheaper one is worth waiting for.
  std::optional<sched::Placement> place_alternative(const sched::Queued& queued,
                                                    sched::JobClass& job_class,
                                                    std::optional<Seconds>& limit,
                                                    const std::vector<LicenseRequest>& licenses,
                                                    std::uint32_t& alternative);

  // When a job of that shape could start in place of the one in the queue.
  std::optional<sched::EarliestStart> find_earliest_start_of(const sched::Queued& queued,
                                                             sched::JobClass& job_class,
                                                             std::optional<Seconds> limit);

  // Whether it is known without a search that none of that limit starts.
  bool is_blocked(sched::JobClass& job_class, std::optional<Seconds> limit);

  std::optional<sched::Placement> place(sched::JobClass& job_class, std::optional<Seconds> limit);

  // Those who ask for reservations wait in a line of their own. The record of a steady job, which asks for none, is not read.
  static const sched::PlannedStartLedger::Reservations& reservations_of(
      const sched::Queued& queued);

  // It cannot start now: say why, and promise it a start if the partition's rule is so.
  void block(sched::Queued& queued, sched::JobClass& job_class);

  // What is said of one that is promised nothing: it is in nobody's way.
  sched::PendingPtr reason_without_planned_start(const sched::Queued& queued,
                                                 sched::JobClass& job_class);

  // Shared by all jobs of the shape, so that saying it again costs nothing.
  sched::PendingPtr waiting_reason(sched::JobClass& job_class, bool first);

  // Says when and where the job is going to start, and keeps that free.
  sched::PendingPtr plan_start(PendingInfo info, const sched::Queued& queued,
                               bool* planned = nullptr);

  // Nothing starts any more: as if all that wait were promised their turn one after the other.
  void estimate();

  void set_reason(sched::Queued& queued, sched::PendingPtr info);
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
  std::map<JobKey, sched::PendingPtr> claim_reasons_;  // what is said of those that others end for
  std::vector<sched::Queued*>
      preempt_later_;  // of several partitions: before others end they are all tried
  sched::PassObserver* const observer_;
  std::uint64_t pass_ = 0;
  Plan plan_;
  sched::ArrayStarts array_starts_;
  std::map<JobKey, IntervalSet::Iterator> next_task_;  // of arrays: those before have started
  std::set<JobKey> started_;
  std::map<JobKey, sched::PendingPtr> choices_;  // of jobs with several partitions
  std::vector<sched::Queued*> blocked_;
  sched::GangScheduler gangs_;
  sched::PendingPtr refusal_;  // of a start that was about to be made
};

}  // namespace ares::core
