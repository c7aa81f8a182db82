// PassObserver: sees a pass as it comes to one job, which the pass itself leaves out. For those who explain why the job waits and what
// would let it start: they try on the very state that the job would meet. Owned by the caller; called on the pass's thread.
#pragma once

#include <optional>

#include "core/cluster/licenses.h"
#include "core/sched/queue/admit.h"
#include "core/sched/queue/order.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// What the pass has left for the job when it is the job's turn in one of its partitions. Nothing of it may be changed.
struct PassView {
  const QueueEntry& entry;
  ClusterIndex& index;  // not const because it finds members of partitions when they are asked for
  const Profile& profile;
  const LicensePool& licenses;
  const ArrayStarts& starting;
  LimitUse& use;  // with what started before
  bool closed =
      false;  // nobody may start there any more in this pass: one waits whom nobody passes
  bool exhausted = false;  // nor anywhere: the pass has spent its budget
};

class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual bool observes(const JobKey& record) const = 0;
  virtual void on_job(const PassView& view) = 0;
  // Another job was promised a start. It comes before the one this is about unless that has had its last turn.
  virtual void on_planned_start(const QueueEntry& entry, const EarliestStart& reservation) = 0;
  // There is nothing more to see.
  virtual bool done() const = 0;
};

}  // namespace ares::core::sched
