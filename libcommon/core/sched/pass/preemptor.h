// Preemptor: handles preemption in one pass. It keeps the resources of preemption claims free and
// finds victims for jobs that cannot start. Lives for one pass and works on its index, profile and
// licences; not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/cluster/licenses.h"
#include "core/cluster/preemptible.h"
#include "core/sched/pass/preempt.h"
#include "core/sched/pass/start_group.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/job_classes.h"

namespace ares::core::sched {

class Preemptor {
 public:
  struct Pass {
    const ClusterState& state;
    const Policy& policy;
    ClusterIndex& index;
    Profile& profile;
    LicensePool& licenses;
    SearchBudget& work;
    Time now;
    LimitUse& use;
  };
  explicit Preemptor(const Pass& pass) : pass_(pass) {}

  // --- jobs with preemption claims ---
  struct ClaimedStart {
    std::optional<Gang> gang;  // none: a job alone
    // With placements, time limits and licences exactly as in their claims. Job classes are not
    // set.
    std::vector<Member> members;
  };
  // The starts of jobs with claims, by job key. Left out: claims that have expired, jobs that
  // something else keeps from starting now, and gangs with any such member.
  std::vector<ClaimedStart> claimed_starts(const ArrayStarts& starting);
  // Whether the victims have released their resources, so that the job can start as claimed.
  bool is_available(const Member& claimed) const;
  // If they have not, keeps the claimed resources free from other jobs in this pass. Returns the
  // reason of the waiting job.
  PendingInfo enforce_claim(const Member& claimed);

  // --- jobs that wait ---
  // Whether any job of the partition may preempt others; whether the job of the entry may.
  bool can_preempt(const Partition* partition);
  bool can_preempt(const QueueEntry& entry);
  struct Preemption {
    PlanGroup group;
    std::vector<PendingInfo> reasons;  // one for each member
  };
  // Preempts other jobs if that lets all members of the group start. Their licences are set then.
  std::optional<Preemption> preempt(StartGroup& group);

  // When the results of this pass may change with time alone.
  std::optional<Time> wake() const { return wake_; }

 private:
  struct Running {
    // A job, or all running members of a gang, because they are preempted together.
    std::vector<const Job*> jobs;
    Victim victim;
    std::vector<NodeIndex> nodes;
  };
  const std::vector<Running>& running();
  void add_running(const Job& job, std::map<JobId, std::size_t>& gangs);
  bool is_whole(const Running& one) const;
  // When all of them may be preempted for each member; none: never.
  std::optional<Time> preemptible_for(const StartGroup& group, const Running& one) const;
  struct Candidates {
    std::vector<Victim> victims;
    // Of the victims' grace times.
    Seconds shortest = Seconds::max(), longest{};
  };
  Candidates candidates(const StartGroup& group);
  std::optional<PreemptionPlan> search(const StartGroup& group);
  bool may_preempt_now(const StartGroup& group);
  bool is_predictable(const Member& member) const;
  bool choose_licenses(StartGroup& group);
  void release_licenses(const StartGroup& group);
  // Whether limits permit all starts, which are counted then.
  bool within_limits(const StartGroup& group, const PreemptionPlan& plan);
  Preemption make_claims(const StartGroup& group, PreemptionPlan plan);
  // As of the beginning of the pass.
  const EvictionsLeft& evictions_left_for(UserId user);
  void wake_by(Time at);
  void release(const std::vector<AttemptKey>& victims);
  void release_shared(const std::vector<AttemptKey>& victims);
  void add_planned_start(const Demand& demand, Placement placement, Time ready,
                         std::optional<Seconds> limit);

  const Pass pass_;
  // Used for look-ups only, never iterated; so is can_preempt_qos_.
  std::map<const Partition*, bool> can_preempt_;
  std::map<std::pair<const Partition*, std::string>, bool> can_preempt_qos_;
  std::optional<std::vector<Running>> running_;
  std::set<AttemptKey> ended_;  // preempted in this pass
  // Class, QOS and time limit of each member.
  using Request = std::vector<std::tuple<const JobClass*, std::string, std::optional<Seconds>>>;
  std::set<Request> failed_;  // for which no victims were found in this pass
  // Jobs that a limit refused although victims were found.
  std::set<std::pair<const JobSpec*, std::optional<Seconds>>> over_limit_;
  std::map<UserId, EvictionsLeft> evictions_left_;  // used for look-ups only, never iterated
  // Evictions that users caused in this pass.
  std::map<UserId, std::uint32_t> evictions_used_;
  std::uint32_t searches_ = 0;
  std::optional<Time> wake_;
};

}  // namespace ares::core::sched
