// Preemptor: the part of one pass that makes room. Keeps what was promised to jobs that others are being ended for, and finds
// whom to end for those that cannot start. Lives for one pass, works on its index, profile and licences; not thread-safe.
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

// "waits until 2 jobs that it preempts have ended: 12, 15_3; 1 of them has".
std::string preemption_text(const ClusterState& state, const PreemptionClaim& claim);

// Why a job that could preempt others may not now, and until when; empty: it may, or could not anyway.
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

  // --- those that others are being ended for already ---
  struct ClaimedStart {
    QueueEntry entry;
    Placement placement;  // exactly what it was promised
    std::optional<Seconds> limit;
  };
  // By job key. Left out: whose time is up, and who cannot have it now for another reason.
  std::vector<ClaimedStart> claimed_starts(const ArrayStarts& starting);
  // Whether the others have let go. It may be started then just so.
  bool is_available(const ClaimedStart& claimed, const JobClass& job_class) const;
  // They have not: nobody else gets any of it in this pass. What is said of it.
  PendingInfo enforce_claim(const ClaimedStart& claimed, const JobClass& job_class);

  // --- those that wait ---
  // Whether any jobs of the partition may preempt others; whether that one may.
  bool can_preempt(const Partition* partition);
  bool can_preempt(const QueueEntry& entry);
  struct Preemption {
    PlanGroup group;
    PendingInfo reason;
  };
  // Ends others for it, if that lets it start. `task`: of an array's record, the task that is next.
  std::optional<Preemption> preempt(const QueueEntry& entry, const JobClass& job_class,
                                    TaskIndex task, std::optional<Seconds> limit);

  // When time alone may change what this pass found.
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
    Seconds shortest = Seconds::max(), longest{};  // of their graces
  };
  Candidates candidates(const QueueEntry& entry, const NodeSet& set);
  std::optional<PreemptionPlan> search(const QueueEntry& entry, const JobClass& job_class,
                                       std::optional<Seconds> limit);
  bool is_predictable(const QueueEntry& entry, const JobClass& job_class) const;
  const EvictionsLeft& evictions_left_for(UserId user);  // before this pass
  void wake_by(Time at);
  void release(const std::vector<AttemptKey>& victims);
  void release_shared(const std::vector<AttemptKey>& victims);
  void add_planned_start(const Demand& demand, Placement placement, Time ready,
                         std::optional<Seconds> limit);

  const Pass pass_;
  std::map<const Partition*, bool> can_preempt_;  // looked up, never walked, like the next
  std::map<std::pair<const Partition*, std::string>, bool> can_preempt_qos_;
  std::optional<std::vector<Running>> running_;
  std::set<AttemptKey> ended_;  // in this pass
  // For whom nobody was found: nor will anybody be for the next one like him, with that QOS.
  std::set<std::tuple<const JobClass*, std::string, std::optional<Seconds>>> failed_;
  std::set<std::pair<const JobSpec*, std::optional<Seconds>>>
      over_limit_;                                  // where a place was found for them
  std::map<UserId, EvictionsLeft> evictions_left_;  // looked up, never walked
  std::map<UserId, std::uint32_t> evictions_used_;  // of what users may have ended, in this pass
  std::uint32_t searches_ = 0;
  std::optional<Time> wake_;
};

}  // namespace ares::core::sched
