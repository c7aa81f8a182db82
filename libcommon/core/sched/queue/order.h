// Queue: who comes before whom. One entry for each pending record that nothing of its own keeps back, and partition it may
// use, sorted by what a Ranking says; kept from pass to pass, so that a pass costs what changed. Owned by a Planner; not thread-safe.
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
  std::optional<Seconds> limit;       // time limit there; none = unlimited
  std::uint64_t floor = 0;            // the priority from which on it is promised a start
  bool is_static = false;  // whether it starts is nothing but a matter of what is free and promised
  bool waits = false;      // see Waiting
  JobClass* job_class = nullptr;              // found at first sight, kept by the planner's table
  std::shared_ptr<const PendingInfo> reason;  // what was last said of it, if it is still said

  // As it is shown: computed, or its own.
  std::uint64_t priority() const;
  bool may_have_planned_start() const { return floor == 0 || priority() >= floor; }
};

// Of an entry what a walk through the queue looks at first, and mostly at nothing else: close together, for the queue is long.
struct Waiting {
  JobClass* job_class =
      nullptr;      // of a steady one that waits for its turn and was told so; null: look at it
  Seconds limit{};  // Seconds::max() = unlimited
};

class Queue {
 public:
  // Makes it that of `state`. The records stay where they are as long as a copy of `state` lives.
  void fill(const ClusterState& state, const Ranking& ranking);

  // The same, from what it was for `before`. Partitions must not have changed, nor the ranks of those who stay. `gone` is told
  // each key that has no entries any more or other ones: what was said of it holds no longer.
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

  // Sorts by what the ranks are now.
  void rank_again(const Ranking& ranking);

  // Entries whose job has left may be among them, without a job, unless users take turns.
  std::vector<Queued>& entries() { return entries_; }
  bool empty() const { return holes_ == entries_.size(); }

  // One for each entry.
  const std::vector<Waiting>& waiting() const { return waiting_; }
  // Whether the entry, which has a shape then, waits for its turn and was told so.
  void set_waiting(Queued& queued, bool waits);
  // They are gone.
  void forget_job_classes();

 private:
  void enter(const ClusterState& state, const JobKey& key, const Ranking& ranking);
  void leave(const ClusterState& state, const Job& job, const Ranking& ranking);
  void settle(const Ranking& ranking);
  void close_holes();
  void merge();

  std::vector<Queued> entries_;   // ascending rank
  std::vector<Waiting> waiting_;  // beside them
  std::vector<Queued> entering_;
  std::size_t holes_ = 0;  // entries without a job
};

// Who is before a job, for people who ask. Makes the ranking of a policy that is not plain at the first question. The state and
// the policy must outlive it; one thread.
class JobsAhead {
 public:
  JobsAhead(const ClusterState& state, const Policy& policy, Time now);
  ~JobsAhead();

  // How many waiting jobs of the same partitions come before it; of users who take turns, as things stand now. Costs a look at
  // the whole queue.
  std::uint32_t of(const Job& job);

 private:
  struct Ranks;
  const ClusterState& state_;
  const Policy& policy_;
  const Time now_;
  std::unique_ptr<Ranks> ranks_;
};

}  // namespace ares::core::sched
