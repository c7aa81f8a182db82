// The fields of every stored type, listed once, so that tests can set and compare all of them. A
// structured binding must name exactly the fields of the type: a field added to the model does not
// compile here until it is named, and a named field that the conversion omits fails the round trip.
// Test code; one thread.
#pragma once

#include <tuple>

#include "model/cluster/node.h"
#include "model/cluster/reservation.h"
#include "model/engine/event.h"
#include "model/engine/request.h"
#include "model/job/job.h"

namespace ares::testing {

template <class T>
struct Fields {
  static constexpr bool known = false;
};

// tie(value) returns references to all fields, constant ones for a constant value.
#define ARES_FIELDS(Type, ...)          \
  template <>                           \
  struct Fields<Type> {                 \
    static constexpr bool known = true; \
    template <class V>                  \
    static auto tie(V& value) {         \
      auto& [__VA_ARGS__] = value;      \
      return std::tie(__VA_ARGS__);     \
    }                                   \
  };

ARES_FIELDS(JobKey, a, b)
ARES_FIELDS(AttemptKey, a, b)
ARES_FIELDS(GpuRequest, a, b, c)
ARES_FIELDS(GpuAlternative, a, b)
ARES_FIELDS(GpuConstraint, a, b)
ARES_FIELDS(LicenseRequest, a, b)
ARES_FIELDS(Dependency, a, b, c)
ARES_FIELDS(ResourceLimit, a, b)
ARES_FIELDS(GangRequest, a, b, c, d)
ARES_FIELDS(JobSpec, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2,
            c3, c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6, d7, d8, d9, e1, e2, e3, e4, e5, e6,
            e7, e8, e9, f1, f2, f3, f4, f5, f6, f7, f8, f9, g1, g2, g3, g4, g5, g6, g7, g8, g9, h1,
            h2, h3, h4, h5, h6, h7, h8, h9, i1, i2, i3, i4, i5, i6)
ARES_FIELDS(CheckpointRequest, a, b)
ARES_FIELDS(ContainerMount, a, b, c)
ARES_FIELDS(ContainerRequest, a, b, c, d, e, f, g, h)
ARES_FIELDS(Checkpoint, a, b, c, d, e, f, g)
ARES_FIELDS(Restored, a, b, c)
ARES_FIELDS(JobBinding, a, b, c, d, e, f)
ARES_FIELDS(ExitStatus, a, b, c, d)
ARES_FIELDS(Usage, a, b, c, d, e)
ARES_FIELDS(NodeShare, a, b, c, d, e, f, g, h, i, j, k, l)
ARES_FIELDS(Suspension, a, b, c, d)
ARES_FIELDS(TresAmount, a, b)
ARES_FIELDS(ChargedTo, a, b, c, d, e, f, g, h)
ARES_FIELDS(Allocation, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
ARES_FIELDS(Preempted, a, b, c)
ARES_FIELDS(PreemptionClaim, a, b, c, d, e, f, g, h)
ARES_FIELDS(Ending, a, b, c, d, e, f, g, h)
ARES_FIELDS(ExpeditedReturn, a, b)
ARES_FIELDS(ArrayState, a, b, c, d, e, f)
ARES_FIELDS(Job, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2, c3,
            c4, c5, c6, c7, c8, c9, d1, d2, d3, d4, d5, d6, d7, d8, d9, e1)
ARES_FIELDS(Attempt, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9)
ARES_FIELDS(Gpu, a, b, c, d)
ARES_FIELDS(Inventory, a, b, c, d, e, f, g, h, i, j)
ARES_FIELDS(Charge, a, b, c, d, e, f, g, h, i, j, k, l)
ARES_FIELDS(NodeGuard, a, b, c, d, e, f, g)
ARES_FIELDS(NodeReboot, a, b, c, d, e, f, g)
ARES_FIELDS(Node, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1, c2,
            c3, c4, c5, c6, c7)
ARES_FIELDS(PlacementPolicy, a, b)
ARES_FIELDS(Partition, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1,
            c2, c3)
ARES_FIELDS(Reservation, a, b, c, d, e, f, g, h, i, j, k, l, m)
ARES_FIELDS(Tres, a, b)
ARES_FIELDS(RequestKey, a, b)
ARES_FIELDS(Request, a, b, c, d, e, f, g, h)
ARES_FIELDS(Error, a, b)
ARES_FIELDS(AuditEntry, a, b, c, d, e, f, g)

ARES_FIELDS(ControllerActivated, a, b, c)
ARES_FIELDS(ConfigApplied, a, b, c, d)
ARES_FIELDS(ConfigApplied::ConfiguredNode, a, b, c)
ARES_FIELDS(TresDefined, a)
ARES_FIELDS(Submitted, a, b, c, d, e, f)
ARES_FIELDS(TaskSplit, a, b)
ARES_FIELDS(Held, a, b, c)
ARES_FIELDS(Released, a)
ARES_FIELDS(Modified, a, b, c, d, e, f, g, h, i)
ARES_FIELDS(DependencyMet, a, b, c)
ARES_FIELDS(DependencyFailed, a, b)
ARES_FIELDS(Allocated, a, b, c, d, e, f, g, h, i, j, k)
ARES_FIELDS(NodeReady, a, b)
ARES_FIELDS(Started, a)
ARES_FIELDS(NodeRunning, a, b)
ARES_FIELDS(LaunchFailed, a, b, c, d, e)
ARES_FIELDS(EndingBegan, a, b, c)
ARES_FIELDS(BatchFinished, a, b, c, d, e)
ARES_FIELDS(NodeReleased, a, b, c)
ARES_FIELDS(NodeFenced, a, b, c)
ARES_FIELDS(ChargeCleared, a, b)
ARES_FIELDS(Ended, a, b, c, d)
ARES_FIELDS(Requeued, a, b, c, d)
ARES_FIELDS(Signalled, a, b, c, d, e)
ARES_FIELDS(Forgotten, a)
ARES_FIELDS(NodeRegistered, a, b, c, d, e, f, g, h, i, j)
ARES_FIELDS(NodeAdminSet, a, b, c, d)
ARES_FIELDS(NodeLost, a, b, c)
ARES_FIELDS(NodeGuardSet, a, b)
ARES_FIELDS(NodeRebootSet, a, b)
ARES_FIELDS(NodeJoined, a, b, c)
ARES_FIELDS(NodeLeft, a, b)
ARES_FIELDS(LateResult, a, b, c, d)
ARES_FIELDS(RequestRecorded, a)
ARES_FIELDS(RequestExpired, a)
ARES_FIELDS(Audited, a)
ARES_FIELDS(PlanPass, a, b, c)
ARES_FIELDS(PartitionModified, a)
ARES_FIELDS(TimeNoticed, a, b)
ARES_FIELDS(AccrualBegan, a, b)
ARES_FIELDS(NodeReplacement, a, b)
ARES_FIELDS(ReservationSet, a, b)
ARES_FIELDS(ReservationRemoved, a)
ARES_FIELDS(Earmarked, a, b)
ARES_FIELDS(Suspended, a, b, c, d)
ARES_FIELDS(Resumed, a, b)
ARES_FIELDS(ExpediteBegan, a, b, c)
ARES_FIELDS(ExpediteExpired, a)
ARES_FIELDS(StepRecord, a1, a2, a3, a4, a5, a6, a7, a8, a9, b1, b2, b3, b4, b5, b6, b7, b8, b9, c1,
            c2)
ARES_FIELDS(StepsReported, a, b)
ARES_FIELDS(CheckpointCommitted, a, b)
ARES_FIELDS(CheckpointRestored, a, b)

ARES_FIELDS(Limit, a, b, c)
ARES_FIELDS(Terms, a, b, c, d, e)
ARES_FIELDS(Account, a, b, c, d, e, f, g, h)
ARES_FIELDS(User, a, b, c, d)
ARES_FIELDS(AssociationKey, a, b, c)
ARES_FIELDS(Association, a, b, c, d)
ARES_FIELDS(Qos, a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, b3, b4, b5, b6)
ARES_FIELDS(WckeyKey, a, b)
ARES_FIELDS(Wckey, a, b, c)
ARES_FIELDS(RecordKey, a, b, c, d)
ARES_FIELDS(AccountingChanged, a, b, c)
ARES_FIELDS(UsageUnits, a, b)
ARES_FIELDS(UsageRow, a, b, c)
ARES_FIELDS(AssociationUsage, a, b, c, d, e)
ARES_FIELDS(UsageCharged, a, b, c, d, e)
ARES_FIELDS(UsageSet, a, b, c)

#undef ARES_FIELDS

}  // namespace ares::testing
