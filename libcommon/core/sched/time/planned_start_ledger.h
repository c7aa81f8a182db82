// PlannedStartLedger: which partitions have waiting jobs, and how many of these jobs have planned
// starts, under each partition's backfill rule. Lives for one pass; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster/node.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

class PlannedStartLedger {
 public:
  // The reservations that a job requests. Jobs with the same partition and reservations form one
  // queue.
  using Reservations = std::vector<std::string>;

  // The policy must outlive the ledger.
  explicit PlannedStartLedger(const Policy& policy) : policy_(policy) {}

  // Whether add_waiting() was called for that queue.
  bool has_waiting(const Partition* partition, const Reservations& reservations = {}) const;
  // Records that a job of the queue waits. Returns whether it is the first one.
  bool add_waiting(const Partition* partition, const Reservations& reservations = {});
  // Whether the backfill rule allows one more planned start in the queue; if so it is counted.
  bool take(const Partition* partition, const Reservations& reservations = {});
  // Returns a planned start that take() counted but that could not be planned because the job fits
  // at no time. With backfill `none` the queue then counts as without waiting jobs, so it is not
  // closed.
  void release(const Partition* partition, const Reservations& reservations = {});
  // Whether no further job of the queue may start in this pass, because one waits and the rule lets
  // no job pass it.
  bool closed(const Partition* partition, const Reservations& reservations = {}) const;

  // Whether a job of the queue waits and jobs that wait from now on get no planned start in this
  // pass.
  bool exhausted(const Partition* partition, const Reservations& reservations = {}) const;

  // The earliest permitted planned start of the queue. With backfill `none` that is the last
  // planned start before it; otherwise there is no bound.
  Time not_before(const Partition* partition, const Reservations& reservations = {}) const;
  void record_planned_start(const Partition* partition, Time at,
                            const Reservations& reservations = {});

 private:
  struct Entry {
    Backfill rule;
    bool waiting = false;
    std::uint32_t taken = 0;
    Time last = Time::min();
  };
  Entry& entry(const Partition* partition, const Reservations& reservations);

  const Policy& policy_;
  // used for look-ups only, never iterated
  std::map<std::pair<const Partition*, Reservations>, Entry> entries_;
  bool any_closed_ = false;
};

}  // namespace ares::core::sched
