// find_victims(): which running jobs to end so that one that waits can start at once, as few and as cheap as can be. The last
// stage of a pass. Pure; changes nothing of what it looks at.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/index/cluster_index.h"
#include "core/sched/place/fit.h"
#include "core/sched/time/backfill.h"
#include "core/sched/time/profile.h"

namespace ares::core::sched {

// A running job that may be ended for the one that waits. It lies on some of the nodes that this one may use.
struct Victim {
  AttemptKey attempt;
  std::int32_t tier = 0;  // of its partition
  std::uint32_t qos = 0;  // priority of its QOS
  std::int64_t lost =
      0;  // work: CPUs times microseconds since its start, the last time it is known to have kept anything
  bool only_suspended = false;  // it is suspended: gives its CPUs, nothing else, and loses nothing
  bool operator<(const Victim& other) const;  // cheaper; ties: the youngest first
};

// What a charge has of its node; of a GPU that it shares a whole one.
Amounts amounts_held(const ClusterIndex& index, const Node& node, const Charge& charge);
// What it gives back when its attempt ends: of a GPU that it shares nothing, for that comes free with the last part of it.
Amounts amounts_of(const ClusterIndex& index, const Node& node, const Charge& charge);

// A GPU that jobs share, and that comes free if all of these are ended: nobody else has a part of it but who is ending already.
struct ReclaimableGpu {
  GpuIndex gpu;
  std::size_t column = 0;
  std::vector<AttemptKey> sharers;
};
// Of those devices of the node of which `may_end(attempt)` is true of every sharer that is not ending.
template <class MayEnd>
std::vector<ReclaimableGpu> reclaimable_gpus(const ClusterState& state, const IndexedNode& node,
                                             MayEnd&& may_end);
// Already told to end: counts as gone in a moment.
bool is_ending(const ClusterState& state, const Charge& charge);
// The part of it that a job gives that is suspended.
Amounts cpus_only(Amounts amounts);

struct PreemptionPlan {
  std::vector<AttemptKey> victims;  // ascending; with one less it does not fit
  Placement placement;
  std::vector<NodeShare> shares;  // the same with GPUs and CPUs
};

// When what is ending by now has let go.
inline constexpr Duration kSoon = std::chrono::seconds(1);

struct PreemptionSearch {
  const ClusterState& state;
  const ClusterIndex& index;
  const Profile& profile;
  SearchBudget& work;
  Time
      ready{};  // when the victims will have ended at the latest, and the job's time begins to count; earlier than kSoon: then
};

// Nothing if it cannot start even without all of them, or will without any of them in a moment, or if the work ran out. It is placed
// from profile.now() + kSoon on and keeps to every promise of the profile. No strict subset of the victims would do.
std::optional<PreemptionPlan> find_victims(const PreemptionSearch& in, const Demand& demand,
                                           std::optional<Seconds> limit, NodeSet set,
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
    // What is used beyond that was given away in this pass.
    if (all && charged == shared.used && !gpu.sharers.empty()) found.push_back(std::move(gpu));
  }
  return found;
}

}  // namespace ares::core::sched
