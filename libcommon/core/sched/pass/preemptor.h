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
#include "core/sched/queue/admit.h"
#include "core/sched/queue/job_classes.h"

namespace ares::core::sched {

// For example "waits until 2 jobs that it preempts have ended: 12, 15_3; 1 of them has".
std::string preemption_text(const ClusterState& state, const PreemptionClaim& claim);

// Why a job that could preempt others may not do so now, and until when. Empty: it may, or could
// not preempt anyway.
struct PreemptionDenial {
  std::string text;
  std::optional<Time> until;
};
PreemptionDenial preemption_denial(const ClusterState& state, const Policy& policy, const Job& job,
                                   Time now);

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
    QueueEntry entry;
    Placement placement;  // exactly as in its claim
    std::optional<Seconds> limit;
  };
  // The starts of jobs with claims, by job key. Left out: claims that have expired, and jobs that
  // something else keeps from starting now.
  std::vector<ClaimedStart> claimed_starts(const ArrayStarts& starting);
  // Whether the victims have released their resources, so that the job can start as claimed.
  bool is_available(const ClaimedStart& claimed, const JobClass& job_class) const;
  // If they have not, keeps the claimed resources free from other jobs in this pass. Returns the
  // reason of the waiting job.
  PendingInfo enforce_claim(const ClaimedStart& claimed, const JobClass& job_class);

  // --- jobs that wait ---
  // Whether any job of the partition may preempt others; whether the job of the entry may.
  bool can_preempt(const Partition* partition);
  bool can_preempt(const QueueEntry& entry);
  struct Preemption {
    PlanGroup group;
    PendingInfo reason;
  };
  // Preempts other jobs if that lets the job start. `task`: for the record of an array, its next
  // task.
  std::optional<Preemption> preempt(const QueueEntry& entry, const JobClass& job_class,
                                    TaskIndex task, std::optional<Seconds> limit);

  // When the results of this pass may change with time alone.
  std::optional<Time> wake() const { return wake_; }

 private:
  struct Running {
    const Job* job = nullptr;
    Victim victim;
    std::vector<NodeIndex> nodes;
  };
  const std::vector<Running>& running();
  struct Candidates {
    std::vector<Victim> victims;
    // Of the victims' grace times.
    Seconds shortest = Seconds::max(), longest{};
  };
  Candidates candidates(const QueueEntry& entry, const NodeSet& set);
  std::optional<PreemptionPlan> search(const QueueEntry& entry, const JobClass& job_class,
                                       std::optional<Seconds> limit);
  bool is_predictable(const QueueEntry& entry, const JobClass& job_class) const;
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
  // No victims were found in this pass for jobs of that class, QOS and time limit.
  std::set<std::tuple<const JobClass*, std::string, std::optional<Seconds>>> failed_;
  // Jobs that a limit refused although victims were found.
  std::set<std::pair<const JobSpec*, std::optional<Seconds>>> over_limit_;
  std::map<UserId, EvictionsLeft> evictions_left_;  // used for look-ups only, never iterated
  // Evictions that users caused in this pass.
  std::map<UserId, std::uint32_t> evictions_used_;
  std::uint32_t searches_ = 0;
  std::optional<Time> wake_;
};

}  // namespace ares::core::sched
