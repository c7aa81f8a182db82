// PassObserver: observes a scheduling pass that leaves out one job. When the pass reaches that job,
// the observer gets the state at that point, so that explanations can test on it why the job waits
// and what would let it start. Owned by the caller; called on the pass's thread.
#pragma once

#include <optional>

#include "core/cluster/licenses.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/order.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// The state of the pass when it reaches the job in one of its partitions. None of it may be
// changed.
struct PassView {
  const QueueEntry& entry;
  // Not const because it looks up members of partitions on demand.
  ClusterIndex& index;
  const Profile& profile;
  const LicensePool& licenses;
  const ArrayStarts& starting;
  // Includes what the pass has started so far.
  LimitUse& use;
  // No further job may start in this partition in this pass, because one waits and none may pass
  // it.
  bool closed = false;
  // The pass has spent its budget, so no further job starts in any partition.
  bool exhausted = false;
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual bool observes(const JobKey& record) const = 0;
  virtual void on_job(const PassView& view) = 0;
  // Called when another job gets a planned start. That job is ahead of the observed one unless the
  // latter was reached in its last partition before.
  virtual void on_planned_start(const QueueEntry& entry, const EarliestStart& reservation) = 0;
  // Whether the observer needs no further calls.
  virtual bool done() const = 0;
};

}  // namespace ares::core::sched
