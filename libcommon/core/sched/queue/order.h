// Queue: the order of pending jobs. It has one entry for each pending record that its own record
// does not block, and each partition that the record may use, sorted by Ranking. Kept from pass to
// pass, so that the cost of a pass depends on what changed. Owned by a Planner; not thread-safe.
// Ties are broken by job key, so the order never depends on how records are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/sched/queue/ranking.h"
#include "model/cluster/node.h"
#include "model/engine/plan.h"
#include "model/engine/state.h"
#include "model/job/job.h"

namespace ares::core::sched {

struct JobClass;

struct Queued {
  Rank rank;
  QueueEntry entry;
  Ranking::AccountNode account_node;  // of its job
  // Time limit in the partition; none: unlimited.
  std::optional<Seconds> limit;
  // The lowest priority with which it may get a planned start.
  std::uint64_t floor = 0;
  // See is_static() in admit.h.
  bool is_static = false;
  bool waits = false;  // see Waiting
  // Found when first considered; owned by the planner's table.
  JobClass* job_class = nullptr;
  // The last reason, if it is still the current one.
  std::shared_ptr<const PendingInfo> reason;

  // The displayed priority: computed, or the job's own.
  std::uint64_t priority() const;
  bool may_have_planned_start() const { return floor == 0 || priority() >= floor; }
};

// The part of an entry that a walk through the queue reads first, and mostly only. Stored
// contiguously because the queue is long.
struct Waiting {
  // Class of a static entry that waits for its turn and has that reason; null: the entry must be
  // considered.
  JobClass* job_class = nullptr;
  Seconds limit{};  // Seconds::max(): unlimited
};

class Queue {
 public:
  // Makes it the queue of `state`. The records stay in place as long as a copy of `state` lives.
  void fill(const ClusterState& state, const Ranking& ranking);

  // Updates it from `before` to `after`. Precondition: partitions and the ranks of remaining
  // entries are unchanged. Calls `gone` with each key whose entries were removed or replaced; its
  // reasons are no longer valid.
  template <class Gone>
  void update(const ClusterState& before, const ClusterState& after, const Ranking& ranking,
              Gone&& gone) {
    CowMap<JobKey, Lsn>::diff(before.pending, after.pending,
                              [&](const JobKey& key, const Lsn* was, const Lsn* is) {
                                if (was) {
                                  if (const Job* job = before.jobs.find(key))
                                    leave(before, *job, ranking);
                                  gone(key);
                                }
                                if (is) enter(after, key, ranking);
                              });
    settle(ranking);
  }

  // Sorts by the current ranks.
  void rank_again(const Ranking& ranking);

  // Some entries may have no job, because the job has left the queue, unless users are served by
  // share.
  std::vector<Queued>& entries() { return entries_; }
  bool empty() const { return holes_ == entries_.size(); }

  // One for each entry.
  const std::vector<Waiting>& waiting() const { return waiting_; }
  // Records whether the entry, which must have a job class if `waits`, waits for its turn and has
  // that reason.
  void set_waiting(Queued& queued, bool waits);
  // Called when the job classes are dropped.
  void forget_job_classes();

 private:
  void enter(const ClusterState& state, const JobKey& key, const Ranking& ranking);
  void leave(const ClusterState& state, const Job& job, const Ranking& ranking);
  void settle(const Ranking& ranking);
  void close_holes();
  void merge();

  // Ascending rank.
  std::vector<Queued> entries_;
  // Parallel to entries_.
  std::vector<Waiting> waiting_;
  std::vector<Queued> entering_;
  std::size_t holes_ = 0;  // entries without a job
};

// Counts the jobs ahead of a job, for users who request it. The ranking of a policy that is not
// plain is made on the first call. The state and the policy must outlive the object; one thread.
class JobsAhead {
 public:
  JobsAhead(const ClusterState& state, const Policy& policy, Time now);
  ~JobsAhead();

  // Number of waiting jobs of the same partitions that come before it. For users served by share,
  // as of now. Costs a walk through the whole queue.
  std::uint32_t of(const Job& job);

 private:
  struct Ranks;
  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  std::unique_ptr<Ranks> ranks_;
};

}  // namespace ares::core::sched
