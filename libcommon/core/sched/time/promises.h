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
class Promises {
 public:
  // The reservations that jobs ask for: those who do wait in a line of their own, in each partition.
  using Inside = std::vector<std::string>;

  // The policy must outlive it.
  explicit Promises(const Policy& policy) : policy_(policy) {}

  // Whether anybody who may be promised something waits there.
  bool any_waits(const Partition* partition, const Inside& inside = {}) const;
  // Somebody waits there; whether it is the first.
  bool waits(const Partition* partition, const Inside& inside = {});
  // Whether one more is promised a start there, which is counted.
  bool grant(const Partition* partition, const Inside& inside = {});
  // That promise could not be made: there is no time at which the job fits. Nobody waits behind it.
  void refund(const Partition* partition, const Inside& inside = {});
  // Whether nothing may start there any more in this pass, because somebody waits whom nobody passes.
  bool closed(const Partition* partition, const Inside& inside = {}) const;

  // Whether whoever waits there from now on in this pass is promised nothing; somebody does already.
  bool spent(const Partition* partition, const Inside& inside = {}) const;

  // No start there is before this: where nobody passes anybody, that of the one before.
  Time not_before(const Partition* partition, const Inside& inside = {}) const;
  void note_start(const Partition* partition, Time at, const Inside& inside = {});

 private:
  struct Line {
    Backfill rule;
    bool waiting = false;
    std::uint32_t promised = 0;
    Time last = Time::min();
  };
  Line& line(const Partition* partition, const Inside& inside);

  const Policy& policy_;
  std::map<std::pair<const Partition*, Inside>, Line> lines_;  // looked up, never walked
  bool any_closed_ = false;
};

}  // namespace ares::core::sched
