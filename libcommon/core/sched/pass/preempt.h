// find_victims(): which running jobs to preempt so that a waiting job, or a gang, can start at once.
// It chooses few and cheap victims. The last stage of a pass. Pure; changes none of its inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/place/fit.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// A running job that may be preempted for the waiting one and is on some node that this one may
// use; or all running members of a gang, which are preempted together.
struct Victim {
  std::vector<AttemptKey> attempts;  // ascending
  std::int32_t tier = 0;             // of its partition
  std::uint32_t qos = 0;             // priority of its QOS
  // Lost work: CPUs times microseconds since its start or its last known checkpoint.
  std::int64_t lost = 0;
  // Preemption suspends it: only its CPUs are released, and no work is lost.
  bool only_suspended = false;
  // Orders by cost, cheapest first; ties: the youngest first.
  bool operator<(const Victim& other) const;
};

// Amounts that a charge holds on its node. A shared GPU counts as a whole one.
Amounts amounts_held(const ClusterIndex& index, const IndexedNode& node, const Charge& charge,
                     std::optional<std::size_t> cpu_share);
// Amounts that are released when the attempt ends. A shared GPU does not count, because it becomes
// free only with its last sharer.
Amounts amounts_of(const ClusterIndex& index, const IndexedNode& node, const Charge& charge,
                   std::optional<std::size_t> cpu_share);

// A shared GPU that becomes free if all of `sharers` are preempted, because all its other sharers
// are ending already.
struct ReclaimableGpu {
  GpuIndex gpu;
  std::size_t column = 0;
  std::vector<AttemptKey> sharers;
};
// The shared devices of the node for which `may_end(attempt)` is true for every sharer that is not
// ending.
template <class MayEnd>
std::vector<ReclaimableGpu> reclaimable_gpus(const ClusterState& state, const IndexedNode& node,
                                             MayEnd&& may_end);
// Whether the attempt is ending already; it is then expected to end at once.
bool is_ending(const ClusterState& state, const Charge& charge);
// The part of the amounts that a suspended job releases.
Amounts cpus_only(Amounts amounts, const ClusterIndex& index);

struct PreemptionPlan {
  std::vector<AttemptKey> victims;  // ascending; all of them are needed
  // One for each demand.
  std::vector<Placement> placements;
  // The placements with GPUs and CPUs.
  std::vector<std::vector<NodeShare>> shares;
};

// The demand of one member of the group that waits, and the nodes that it may use.
struct DemandOnNodes {
  const Demand& demand;
  NodeSet nodes;
};

// When attempts that are ending now are expected to have released their resources.
inline constexpr Duration kSoon = std::chrono::seconds(1);

struct PreemptionSearch {
  const ClusterState& state;
  const ClusterIndex& index;
  const Profile& profile;
  SearchBudget& work;
  // When the victims will have ended at the latest, which is when the job's time limit begins to
  // count. A time before kSoon means kSoon.
  Time ready{};
};

// Nothing if the group cannot start even without all of the victims, or will start soon without
// preemption, or if the budget ran out. It is placed from profile.now() + kSoon on, for `limit`, and
// respects all planned starts of the profile. No proper subset of the victims would be enough.
std::optional<PreemptionPlan> find_victims(const PreemptionSearch& in,
                                           std::vector<DemandOnNodes> group,
                                           std::optional<Seconds> limit,
                                           std::vector<Victim> candidates);

template <class MayEnd>
std::vector<ReclaimableGpu> reclaimable_gpus(const ClusterState& state, const IndexedNode& node,
                                             MayEnd&& may_end) {
  std::vector<ReclaimableGpu> found;
  for (const SharedGpu& shared : node.shared) {
    ReclaimableGpu gpu{shared.gpu, shared.column, {}};
    std::uint32_t charged = 0;
    bool all = true;
    for (const Charge& charge : node.node->charges) {
      if (charge.gpu_part == 0 || charge.gpus.front() != shared.gpu) continue;
      charged += charge.gpu_part;
      if (is_ending(state, charge)) continue;
      all = all && may_end(charge.attempt);
      gpu.sharers.push_back(charge.attempt);
    }
    // Use beyond the charges was allocated in this pass.
    if (all && charged == shared.used && !gpu.sharers.empty()) found.push_back(std::move(gpu));
  }
  return found;
}

}  // namespace ares::core::sched
