// Queue: who comes before whom. One entry for each pending record that nothing of its own keeps back, and partition it may
// use, sorted; kept from pass to pass, so that a pass costs what changed. Owned by a Planner; not thread-safe.
// Ties are broken by job key, so the order never depends on how records are stored.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "model/job.h"
#include "model/node.h"
#include "model/plan.h"
#include "model/state.h"

namespace ares::core::sched {

struct QueueEntry {
  const Job* job = nullptr;
  const Partition* partition = nullptr;  // null: the partition it names does not exist
  std::uint32_t choice = 0;              // position of the partition in the job's list
};

// What an entry sorts by, ascending: partition tier (high first), priority (high first), nice (low first), age (eligible
// time), key, then the user's order of partitions.
using Rank = std::tuple<std::int64_t, std::int64_t, std::int32_t, Time, JobKey, std::uint32_t>;
Rank rank_of(const QueueEntry& entry);

struct Shape;

struct Queued {
  Rank rank;
  QueueEntry entry;
  std::optional<Seconds> limit;             // time limit there; none = unlimited
  Shape* shape = nullptr;                   // found at first sight, kept by the planner's table
  std::shared_ptr<const PendingInfo> said;  // what was last said of it, if it is still said
};

class Queue {
 public:
  // Makes it that of `state`. The records stay where they are as long as a copy of `state` lives.
  void fill(const ClusterState& state);

  // The same, from what it was for `before`. Partitions must not have changed. `gone` is told each key that has no entries
  // any more or other ones: what was said of it holds no longer.
  template <class Gone>
  void update(const ClusterState& before, const ClusterState& after, Gone&& gone) {
    CowMap<JobKey, Lsn>::diff(before.pending, after.pending,
                              [&](const JobKey& key, const Lsn* was, const Lsn* is) {
                                if (was) {
                                  if (const Job* job = before.jobs.find(key)) leave(before, *job);
                                  gone(key);
                                }
                                if (is) enter(after, key);
                              });
    settle();
  }

  std::vector<Queued>& entries() { return entries_; }

 private:
  void enter(const ClusterState& state, const JobKey& key);
  void leave(const ClusterState& state, const Job& job);
  void settle();

  std::vector<Queued> entries_;  // ascending rank
  std::vector<Queued> entering_;
  bool holes_ = false;  // entries without a job
};

// How many waiting jobs of the same partitions come before it.
std::uint32_t jobs_ahead(const ClusterState& state, const Job& job);

}  // namespace ares::core::sched
