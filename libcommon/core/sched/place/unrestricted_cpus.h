// The CPUs of a share on a node that keeps some for jobs with GPUs: how many are of those that other jobs
// could get as well. devices.h chooses as many by number.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

#include "core/sched/index/demand.h"
#include "core/sched/index/indexed_node.h"
#include "core/sched/place/placement.h"

namespace ares::core::sched {

// Fills in the column Demand::unrestricted of the share, whose other amounts are known; does nothing if
// there is none. A job without GPUs gets no others. A job with GPUs gets what is kept for its own GPUs,
// then others, and at last what is kept for other GPUs. `free`, `total`: amounts of the node.
void count_unrestricted(const Demand& demand, std::span<const std::int64_t> free,
                        std::span<const std::int64_t> total, PlacedShare& share);

// Lowers the CPUs in a row of amounts that stay free from now on to those that a job with GPUs could
// have all the time: the numbers of its CPUs do not change, so of the kept CPUs it can have only those
// that are free now.
void cap_restricted(const ClusterIndex& index, const IndexedNode& node,
                    std::span<std::int64_t> free);

}  // namespace ares::core::sched
