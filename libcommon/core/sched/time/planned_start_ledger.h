// Promises: who waits in which partition, and how many of them are promised a start, by the partition's rule of backfill.
// Lives for one pass; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/cluster/node.h"
#include "model/policy/policy.h"

namespace ares::core::sched {

// Who waits in which partition, and who of them is promised a start: one pass's account of the rules of backfill.
class PlannedStartLedger {
 public:
  // The reservations that jobs ask for: those who do wait in a line of their own, in each partition.
  using Reservations = std::vector<std::string>;

  // The policy must outlive it.
  explicit PlannedStartLedger(const Policy& policy) : policy_(policy) {}

  // Whether anybody who may be promised something waits there.
  bool has_waiting(const Partition* partition, const Reservations& reservations = {}) const;
  // Somebody waits there; whether it is the first.
  bool add_waiting(const Partition* partition, const Reservations& reservations = {});
  // Whether one more is promised a start there, which is counted.
  bool take(const Partition* partition, const Reservations& reservations = {});
  // That promise could not be made: there is no time at which the job fits. Nobody waits behind it.
  void release(const Partition* partition, const Reservations& reservations = {});
  // Whether nothing may start there any more in this pass, because somebody waits whom nobody passes.
  bool closed(const Partition* partition, const Reservations& reservations = {}) const;

  // Whether whoever waits there from now on in this pass is promised nothing; somebody does already.
  bool exhausted(const Partition* partition, const Reservations& reservations = {}) const;

  // No start there is before this: where nobody passes anybody, that of the one before.
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
  std::map<std::pair<const Partition*, Reservations>, Entry> entries_;  // looked up, never walked
  bool any_closed_ = false;
};

}  // namespace ares::core::sched
