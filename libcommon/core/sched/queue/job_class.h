// JobClass: jobs of identical demand in one partition, and results of passes about them. Owned by a
// JobClasses; not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/sched/index/demand.h"
#include "core/sched/place/filter.h"
#include "core/sched/place/nodes_with_capacity.h"
#include "core/sched/place/search.h"
#include "model/engine/plan.h"
#include "model/job/job.h"

namespace ares::core::sched {

using PendingPtr = std::shared_ptr<const PendingInfo>;

struct JobClass {
  // Number of the pass in which the class can get no more planned starts. In that pass its jobs
  // that are known to be blocked keep their reason and are skipped. First because the walk through
  // the queue often reads nothing else.
  std::uint64_t skip_in_pass = 0;

  // What is read of every class on the way to a job's own; together because memory is slow.
  const Partition* partition = nullptr;
  // Its jobs have waited long enough that the limit on switches no longer applies.
  bool relaxed = false;

 private:
  friend class JobClasses;
  // Generation of the index for which the candidates were computed.
  std::uint64_t generation_ = 0;
  // The pass for which the results below are valid.
  std::uint64_t pass_ = 0;
  JobClass* same_hash_ = nullptr;  // another class of the same hash

 public:
  // Results of the current pass. Free amounts only shrink within a pass, so a negative result stays
  // valid.

  // Not enough free for any time limit.
  bool blocked = false;
  // Enough free, but not for time limits of `blocked_limit` or more.
  bool blocked_by_planned_start = false;
  // Enough free, but on nodes that are reserved.
  bool blocked_by_reservation = false;
  // Enough free, but on nodes that plugins refuse.
  bool blocked_by_plugin = false;
  std::optional<Seconds> blocked_limit;  // nullopt: without limit

  // Its specification, its excluded nodes and those kept for it count; other fields are set only where plugins read them.
  Job example;
  // For a job with alternative GPUs: the class of each alternative, shared with jobs that request
  // only that one. Results are recorded there; the demand and candidates of this class are those of
  // the first alternative.
  std::vector<JobClass*> alternatives;
  Demand demand;
  Candidates candidates;

  // Reason while reservations keep it from starting.
  PendingPtr reservation_reason;
  // Reason while plugins keep it from starting.
  PendingPtr plugin_reason;
  // Reason of jobs that cannot run at all.
  PendingPtr impossible_reason;
  // Reasons of jobs that wait for their turn, and of the first one of them in the queue.
  PendingPtr waiting_reason, first_reason;

  // The earliest start for a job with that limit: not before the planned start in this pass of a
  // job of the class with the same or a shorter limit.
  Time not_before(std::optional<Seconds> limit) const;
  void record_planned_start(std::optional<Seconds> limit, Time at);

  NodeSet nodes() const;
  bool known_blocked(std::optional<Seconds> limit) const;
  // Whether the class did not fit before and no node has since got so much more free that it might
  // fit now.
  bool still_blocked(const ClusterIndex& index);
  void record_shortfall(const ClusterIndex& index);
  void record_blocked_limit(std::optional<Seconds> limit);
  // Whether it would fit if plugins were ignored.
  bool fits_without_plugins(const ClusterIndex& index, CapacityBasis basis) const;
  // Whether it would fit on empty nodes if plugins did not refuse it there. Known once the class
  // was found impossible.
  bool always_refused() const { return always_refused_; }

 private:
  const NodeList& list() const { return use_fallback_ ? candidates.fallback : candidates.usable; }

  bool use_fallback_ = false;
  // Set when it did not fit, less what has become free since.
  Shortfall shortfall_;
  // Position in the index's log of gains up to which `shortfall_` is updated.
  std::uint64_t shortfall_gains_ = 0;
  // Fits on the usable nodes if they are empty.
  std::optional<bool> possible_;
  bool always_refused_ = false;
  // Not possible, but would be if all nodes were up.
  bool if_up_ = false;
  // The last planned start, and the time limit of its job.
  std::optional<Time> planned_at_;
  std::optional<Seconds> planned_limit_;
};

}  // namespace ares::core::sched
