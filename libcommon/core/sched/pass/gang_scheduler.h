// GangScheduler: one pass's gangs. A gang has its turn with its highest-ranked member and is looked at once: all members start, in one
// group of the plan, or nothing of it is held. A gang that waits may be promised one start for all, at which all fit together.
// Lives for one pass of a Planner, on that pass's own parts; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/cluster/licenses.h"
#include "core/sched/pass/pass_observer.h"
#include "core/sched/pass/plan.h"
#include "core/sched/queue/gang_admission.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/queue/service_order.h"
#include "core/sched/time/planned_start_ledger.h"

namespace ares::core::sched {

class GangScheduler {
 public:
  // All must outlive it. `given`: the nodes that the pass marked. `witness` may be null.
  struct Parts {
    const ClusterState& state;
    ClusterIndex& index;
    JobClasses& job_classes;
    ServiceOrder& service_order;
    Profile& profile;
    LicensePool& licenses;
    PlannedStartLedger& planned_starts;
    SearchBudget& work;
    Plan& plan;
    std::vector<NodeIndex>& allocated;
    const Budget budget;
    const Time now;
    LimitUse& use;
    PassObserver* const observer;
  };
  explicit GangScheduler(Parts parts) : p_(parts) {}

  // The turn of a member that waits with its gang: what is to be said of it; null: it starts.
  PendingPtr consider(Queued& queued);

  // Whether nothing was promised to the gang whose turn it was, so that it may be told when it could start as if it had been.
  bool without_planned_start(const Queued& queued) const {
    return last_without_planned_start_ == queued.entry.job->gang;
  }

  // After all turns, of a gang that had none promised: as if it had. Calls say(queued, info) for each of its members.
  template <class SetReason>
  void estimate(const Queued& leader, SetReason&& set_reason) {
    GangEntry& entry = entries_.at(leader.entry.job->gang);
    if (!plan_start(entry)) return;
    for (Queued* queued : entry.seen) set_reason(*queued, entry.reasons.at(queued->entry.job->key));
  }

 private:
  struct Member {
    const Job* job = nullptr;
    const Partition* partition = nullptr;
    JobClass* job_class = nullptr;
    std::optional<Seconds> limit;
  };
  struct GangEntry {
    Gang gang;
    std::vector<Member> members;                 // in the order in which places are looked for
    mutable std::vector<Demand> spread_demands;  // of the members, made when they are asked for
    std::map<JobKey, PendingPtr> reasons;
    std::vector<Queued*> seen;
    std::optional<PendingInfo>
        refusal;  // a plugin's or a limit's, of a start that was about to be made
    bool starts = false;

    // Places are looked for as the partition likes them first. Where all do not fit so they are tried once more, each on the nodes
    // with most room: for members that are alike that is as good as any way to take them in.
    bool may_spread() const;
    const Demand& demand(std::size_t at, bool spread) const;
  };
  using Placements = std::vector<Placement>;  // of the members, in their order
  struct GangStart {
    Time at{};
    Placements placements;
  };

  void evaluate(const Queued& leader, GangEntry& entry);
  std::vector<Member> members_of(const Gang& gang);
  bool short_of_licenses(GangEntry& entry);
  bool is_impossible(GangEntry& entry);
  bool start(GangEntry& entry);
  bool start(GangEntry& entry, bool spread);
  // Of the members up to the first for which there is none. The index is left as it was.
  Placements find(const GangEntry& entry, bool spread);
  bool permitted(GangEntry& entry, const Placements& placements);
  bool over_limits(GangEntry& entry, const Placements* placements);
  // Others do not use up again and again what the limits leave it.
  void keep_limits(const GangEntry& entry, const Placements* placements, std::optional<Time> at);
  bool take_licenses(const std::vector<Member>& members, PlanGroup& group);
  std::optional<Placement> place(const GangEntry& entry, std::size_t at, bool spread,
                                 std::optional<Profile>& trial, const Placements& taken);
  void commit(GangEntry& entry, PlanGroup group, const Placements& placements);
  void block(const Queued& leader, GangEntry& entry);
  std::optional<Placements> fit_at(const GangEntry& entry, Time at);
  std::optional<Placements> fit_at(const GangEntry& entry, Time at, bool spread);
  std::optional<GangStart> find_gang_start(const GangEntry& entry, Time from);
  std::vector<Time> changes_after(const std::vector<Member>& members, Time at) const;
  bool plan_start(GangEntry& entry);
  void set_reasons(GangEntry& entry, const PendingInfo& info);
  void set_reasons_from(GangEntry& entry, const Job& blocking, PendingInfo info);
  std::string waiting_text(const GangEntry& entry) const;

  const Parts p_;
  std::map<JobId, GangEntry> entries_;  // by the gang's number
  JobId last_without_planned_start_{0};
};

}  // namespace ares::core::sched
