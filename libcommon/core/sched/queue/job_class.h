// Shape: a class of jobs of identical demand in a partition, and what passes have learnt of it. Owned by a Shapes; not thread-safe.
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
  // What a walk through the queue looks at first, and often at nothing else: in this pass nobody else of the shape is promised
  // anything, so that whoever is known to be blocked waits for his turn, as was said before.
  std::uint64_t skip_in_pass = 0;

  // What the pass has learnt. Free amounts only shrink within a pass, so "no" stays "no".
  bool blocked = false;                   // not enough free for any time limit
  bool blocked_by_planned_start = false;  // enough free, but not for jobs as long as:
  bool blocked_by_reservation = false;    // enough free, but on nodes that are reserved
  bool blocked_by_plugin = false;         // enough free, but on nodes that plugins refuse
  std::optional<Seconds> blocked_limit;   // (nullopt = without limit)

  Job example;  // specification, excluded nodes, and of its own only what plugins look at
  // Of a job whose GPUs may be had in several ways: the shape of each, shared with jobs that ask for it alone. What is learnt of them is
  // learnt there; this one's demand and candidates are those of the first.
  std::vector<JobClass*> alternatives;
  const Partition* partition = nullptr;
  bool relaxed = false;  // its jobs have waited so long that the bound on switches counts no more
  Demand demand;
  Candidates candidates;

  PendingPtr reservation_reason;  // what is said of it when it is kept out,
  PendingPtr plugin_reason;       // or plugged out
  PendingPtr impossible_reason;   // what is said of those that cannot run at all
  PendingPtr waiting_reason,
      first_reason;  // what is said of those that wait for their turn, and of the first

  // Where a job of the shape was promised its start in this pass, none of at least that length starts earlier any more.
  Time not_before(std::optional<Seconds> limit) const;
  void record_planned_start(std::optional<Seconds> limit, Time at);

  NodeSet nodes() const;
  bool known_blocked(std::optional<Seconds> limit) const;
  // Whether it did not fit before and no node has got so much more free since that it could now.
  bool still_blocked(const ClusterIndex& index);
  void record_shortfall(const ClusterIndex& index);
  void record_blocked_limit(std::optional<Seconds> limit);
  // Whether it would fit if no plugin were asked.
  bool fits_without_plugins(const ClusterIndex& index, CapacityBasis basis) const;
  // Whether plugins refuse it on empty nodes where it would fit. Known once it is found impossible.
  bool always_refused() const { return always_refused_; }

 private:
  friend class JobClasses;
  const NodeList& list() const { return use_fallback_ ? candidates.fallback : candidates.usable; }

  bool use_fallback_ = false;
  Shortfall shortfall_;                // when it did not fit, less what has come free since
  std::uint64_t shortfall_gains_ = 0;  // counted so far, of the index
  std::optional<bool> possible_;       // on the usable nodes, were they empty
  bool always_refused_ = false;
  bool if_up_ = false;              // not possible, but it would be if all nodes were up
  std::optional<Time> planned_at_;  // the last start promised, to one with this limit:
  std::optional<Seconds> planned_limit_;
  std::uint64_t generation_ = 0;  // of the index that the candidates are of
  std::uint64_t pass_ = 0;        // what the pass has learnt is of this one
};

}  // namespace ares::core::sched
