// GangScheduler: schedules the gangs of one pass. A gang is considered once, when its
// highest-ranked member is reached. Either all members start, in one group of the plan, or none
// does and nothing is allocated. A waiting gang may get one planned start at which all members fit
// together.
// Lives for one pass of a Planner and works on that pass's own parts; not thread-safe.
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
  // All must outlive the object. `allocated`: nodes that the pass marked. `observer` may be null.
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

  // Considers a member that waits with its gang. Returns the reason why it waits; null: it starts.
  PendingPtr consider(Queued& queued);

  // Whether the gang considered last got no planned start, so that estimate() may compute when it
  // could start.
  bool without_planned_start(const Queued& queued) const {
    return last_without_planned_start_ == queued.entry.job->gang;
  }

  // Called after the pass for a gang without planned start: computes one as if it were allowed.
  // Calls set_reason(queued, info) for each of its members.
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
    // In the order in which placements are searched.
    std::vector<Member> members;
    // Demands of the members with the spread strategy; made when first needed.
    mutable std::vector<Demand> spread_demands;
    std::map<JobKey, PendingPtr> reasons;
    std::vector<Queued*> seen;
    Rank rank{};  // of the member that was considered first
    // Reason of a plugin or limit that refused a start for which a placement was found.
    std::optional<PendingInfo> refusal;
    bool starts = false;

    // Placements are searched first with the partition's strategy. If not all members fit, they are
    // searched once more, each on the nodes with the most free capacity. For members of identical
    // demand that order finds a placement of all if there is one.
    bool may_spread() const;
    const Demand& demand(std::size_t at, bool spread) const;
  };
  // One for each member, in their order.
  using Placements = std::vector<Placement>;
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
  // Placements of the members up to the first one that does not fit. The index is left unchanged.
  Placements find(const GangEntry& entry, bool spread);
  bool permitted(GangEntry& entry, const Placements& placements);
  bool over_limits(GangEntry& entry, const Placements* placements);
  // Reserves the gang's headroom in limits, so that other jobs do not repeatedly use it up.
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
  std::map<JobId, GangEntry> entries_;  // by the first member's gang number
  JobId last_without_planned_start_{0};
};

}  // namespace ares::core::sched
