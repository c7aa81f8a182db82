// The choice of nodes for a demand whose GPUs have a type: how many, and which. Internal to fit(); pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sched/index/demand.h"
#include "core/sched/place/placement.h"
#include "core/sched/place/score.h"
#include "core/sched/place/typed_demand.h"

namespace ares::core::sched {

struct Candidate {
  const NodeOffer* offer = nullptr;
  std::int64_t tasks = 0;       // capacity
  std::int64_t gpus = 0;        // it can add to the total
  std::int64_t spare_gpus = 0;  // free GPUs that would stay unused
};

// The nodes to take of the candidates, in rank order; nothing if they cannot hold the demand. `required` of them must be
// among these.
std::optional<std::vector<Candidate>> choose_nodes(const TypedDemand& typed,
                                                   std::vector<Candidate> candidates,
                                                   std::size_t required);

// What each of the chosen nodes gives. Precondition: together they hold the demand.
Placement lay_out(const TypedDemand& typed, std::span<const Candidate> chosen);

// Where the GPU stands of which the demand wants a part. Precondition: it wants one.
std::size_t part_column(const TypedDemand& typed);

// What `tasks` tasks take of a room, but for GPUs that are asked for in total. Written to `out`, of the rooms' stride.
void charge(const TypedDemand& typed, const NodeOffer& offer, std::int64_t tasks,
            std::span<std::int64_t> out);

}  // namespace ares::core::sched
