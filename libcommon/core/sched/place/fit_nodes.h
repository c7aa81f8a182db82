// Choice of the number of nodes, and of the nodes, for a demand whose GPUs have a type. Internal to
// fit(); pure.
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
  std::int64_t tasks = 0;  // capacity in tasks
  // GPUs that the node can add to the total.
  std::int64_t gpus = 0;
  std::int64_t spare_gpus = 0;  // free GPUs that would stay unused
};

// The nodes to take of the candidates, in rank order; nothing if they cannot hold the demand.
// `required` is the number of required nodes, which must all be among them.
std::optional<std::vector<Candidate>> choose_nodes(const TypedDemand& typed,
                                                   std::vector<Candidate> candidates,
                                                   std::size_t required);

// The share of each chosen node. Precondition: together they hold the demand.
Placement lay_out(const TypedDemand& typed, std::span<const Candidate> chosen);

// Column of the GPU of which the demand needs a part. Precondition: it needs one.
std::size_t part_column(const TypedDemand& typed);

// Amounts that `tasks` tasks take of an offer, without the GPUs that are requested in total.
// Written to `out`, which has the offers' stride.
void charge(const TypedDemand& typed, const NodeOffer& offer, std::int64_t tasks,
            std::span<std::int64_t> out);

}  // namespace ares::core::sched
