// GangTurns: one pass's gangs. A gang has its turn with its highest-ranked member and is looked at once: all members start, in one
// group of the plan, or nothing of it is held. A gang that waits may be promised one start for all, at which all fit together.
// Lives for one pass of a Planner, on that pass's own parts; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/cluster/licenses.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/witness.h"
#include "core/sched/queue/gathering.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/queue/service_order.h"

namespace ares::core::sched {

class GangTurns {
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
    std::vector<NodeIndex>& given;
    const Budget budget;
    const Time now;
    LimitUse& use;
    Witness* const witness;
  };
  explicit GangTurns(Parts parts) : p_(parts) {}

  // The turn of a member that waits with its gang: what is to be said of it; null: it starts.
  PendingPtr turn(Queued& queued);

  // Whether nothing was promised to the gang whose turn it was, so that it may be told when it could start as if it had been.
  bool without_planned_start(const Queued& queued) const {
    return last_without_planned_start_ == queued.entry.job->gang;
  }

  // After all turns, of a gang that had none promised: as if it had. Calls say(queued, info) for each of its members.
  template <class SetReason>
  void estimate(const Queued& leader, SetReason&& set_reason) {
    Account& account = accounts_.at(leader.entry.job->gang);
    if (!plan_start(account)) return;
    for (Queued* queued : account.seen)
      set_reason(*queued, account.reasons.at(queued->entry.job->key));
  }

 private:
  struct Member {
    const Job* job = nullptr;
    const Partition* partition = nullptr;
    JobClass* job_class = nullptr;
    std::optional<Seconds> limit;
  };
  struct Account {
    Gang gang;
    std::vector<Member> members;         // in the order in which places are looked for
    mutable std::vector<Demand> spread;  // of the members, made when they are asked for
    std::map<JobKey, PendingPtr> reasons;
    std::vector<Queued*> seen;
    std::optional<PendingInfo>
        refusal;  // a plugin's or a limit's, of a start that was about to be made
    bool starts = false;

    // Places are looked for as the partition likes them first. Where all do not fit so they are tried once more, each on the nodes
    // with most room: for members that are alike that is as good as any way to take them in.
    bool may_go_wide() const;
    const Demand& demand(std::size_t at, bool wide) const;
  };
  using Placements = std::vector<Placement>;  // of the members, in their order
  struct Together {
    Time at{};
    Placements placements;
  };

  void consider(const Queued& leader, Account& account);
  std::vector<Member> members_of(const Gang& gang);
  bool lack_licenses(Account& account);
  bool is_impossible(Account& account);
  bool start(Account& account);
  bool start(Account& account, bool wide);
  // Of the members up to the first for which there is none. The index is left as it was.
  Placements find(const Account& account, bool wide);
  bool permitted(Account& account, const Placements& placements);
  bool over_limits(Account& account, const Placements* placements);
  // Others do not use up again and again what the limits leave it.
  void keep_limits(const Account& account, const Placements* placements, std::optional<Time> at);
  bool take_licenses(const std::vector<Member>& members, PlanGroup& group);
  std::optional<Placement> place(const Account& account, std::size_t at, bool wide,
                                 std::optional<Profile>& trial, const Placements& taken);
  void commit(Account& account, PlanGroup group, const Placements& placements);
  void block(const Queued& leader, Account& account);
  std::optional<Placements> fit_at(const Account& account, Time at);
  std::optional<Placements> fit_at(const Account& account, Time at, bool wide);
  std::optional<Together> earliest_together(const Account& account, Time from);
  std::vector<Time> changes_after(const std::vector<Member>& members, Time at) const;
  bool plan_start(Account& account);
  void set_reasons(Account& account, const PendingInfo& info);
  void set_reasons_from(Account& account, const Job& hindered, PendingInfo info);
  std::string waiting_text(const Account& account) const;

  const Parts p_;
  std::map<JobId, Account> accounts_;  // by the gang's number
  JobId last_without_planned_start_{0};
};

}  // namespace ares::core::sched
