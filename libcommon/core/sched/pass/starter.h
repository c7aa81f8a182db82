// Starter: the one way in which a pass starts jobs. It places the members of a group on what is
// free now, asks limits and plugins, and adds the start to the plan: of all members, or of none.
// Lives for one pass of a Planner and works on that pass's own parts; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/cluster/licenses.h"
#include "core/sched/pass/plan.h"
#include "core/sched/pass/start_group.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/job_classes.h"
#include "core/sched/queue/service_order.h"
#include "core/sched/time/earliest_start_cache.h"
#include "core/sched/time/planned_start_ledger.h"

namespace ares::core::sched {

inline PendingPtr make_info(Reason reason, std::string detail = {}) {
  return std::make_shared<const PendingInfo>(
      PendingInfo{reason, std::move(detail), std::nullopt, {}});
}

// Why a group does not start now.
struct Refusal {
  // Null: not enough is free. Otherwise licences, a limit or a plugin: then it delays no other job.
  PendingPtr why;
  // The member that keeps the others from starting; null: the group as a whole.
  const Member* member = nullptr;
  // Jobs that end may make room under the limit.
  bool over_limit = false;
};

class Starter {
 public:
  // All must outlive the object. `allocated`: nodes that the pass marked.
  struct Parts {
    const ClusterState& state;
    ClusterIndex& index;
    JobClasses& job_classes;
    EarliestStartCache& earliest_starts;
    ServiceOrder& service_order;
    Profile& profile;
    LicensePool& licenses;
    PlannedStartLedger& planned_starts;
    SearchBudget& work;
    Plan& plan;
    std::vector<NodeIndex>& allocated;
    ArrayStarts& array_starts;
    const Time now;
    LimitUse& use;
  };
  explicit Starter(Parts parts) : p_(parts) {}

  // Places the group and starts it. None: it starts.
  std::optional<Refusal> try_start(StartGroup& group);
  // The same with placements and licences that are known.
  std::optional<Refusal> start_placed(StartGroup& group);
  // What refuses the group wherever it is placed: licences, or limits by its request.
  std::optional<Refusal> refusal_by_request(StartGroup& group);

  // Whether earlier results of this pass show that a job of the class with that limit cannot start.
  bool is_blocked(JobClass& job_class, std::optional<Seconds> limit);

  // Calls check(member) for each member, with those before it counted as started; whether it is
  // true for all.
  template <class Check>
  bool all_beside(StartGroup& group, Check&& check) {
    Trial trial(p_);
    for (Member& member : group.members) {
      if (!check(member)) return false;
      if (&member != &group.members.back()) trial.take(member);
    }
    return true;
  }

  // The earliest start of a job of that class in place of the member.
  std::optional<EarliestStart> find_earliest_start_of(const Member& member, JobClass& job_class,
                                                      std::optional<Seconds> limit) {
    return find_earliest_start_of(member, job_class, limit, nullptr);
  }

  // Reserves the headroom in limits that the group needs from `at` on, so that other jobs do not
  // repeatedly use it up; none: once enough running jobs have ended.
  void set_aside_headroom(const StartGroup& group, std::optional<Time> at);

 private:
  // Members counted as started, in everything that the search of the next one reads. Undone at the
  // end.
  class Trial {
   public:
    explicit Trial(const Parts& parts) : p_(parts), use_mark_(parts.use.mark()) {}
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    ~Trial();
    void take(const Member& member);
    bool empty() const { return taken_.empty(); }
    const Profile& profile();

   private:
    const Parts& p_;
    const std::size_t use_mark_;
    std::vector<const Member*> taken_;
    std::map<NodeIndex, IndexedNode> before_;
    std::optional<Profile> profile_;  // made when first needed
  };

  // `beside`: members that start before it; null: none.
  std::optional<EarliestStart> find_earliest_start_of(const Member& member, JobClass& job_class,
                                                      std::optional<Seconds> limit, Trial* beside);
  // Calls place(member, trial), which returns why not, for one member after the other.
  template <class Place>
  std::optional<Refusal> for_each_member(StartGroup& group, Place&& place);
  std::optional<Refusal> choose_licenses(Member& member);
  // `demand`: null for that of the member's class.
  std::optional<Refusal> place(const StartGroup& group, Member& member, const Demand* demand,
                               Trial& trial);
  // Searches a placement on `job_class`. If planned starts leave no time for all of the limit, a
  // job that permits it (time_min) gets as much as they leave.
  bool place_on(JobClass& job_class, Member& member, const Demand* demand, Trial& trial);
  std::optional<Placement> place_for(JobClass& job_class, std::optional<Seconds> limit,
                                     const Demand* demand, Trial& trial);
  // Chooses an alternative of the job; none also if a cheaper alternative is worth waiting for.
  bool place_alternative(const StartGroup& group, Member& member, Trial& trial,
                         std::optional<Refusal>& refused);
  // For a job that returns first: with spare nodes in place of the nodes that failed, as many as
  // there are.
  bool place_with_fewer_spares(Member& member, Trial& trial);
  std::optional<Refusal> over_limits(const StartGroup& group, const Member& member);
  std::optional<Refusal> refused_by_plugins(const StartGroup& group);
  void commit(StartGroup& group);

  const Parts p_;
};

}  // namespace ares::core::sched
