// The fewest nodes that have GPUs of several types in total. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ares::core {

// A number of GPUs for each requested type, in the order of the request.
using GpuCounts = std::vector<std::uint64_t>;

// The number of nodes with these GPUs.
using NodesByGpus = std::map<GpuCounts, std::uint64_t>;

// The fewest nodes that have the wanted GPUs together; none if all of them have too few. With nodes
// that have several of the types this is a covering problem. If too many combinations would have to
// be tried, the result is a lower bound.
std::optional<std::uint64_t> fewest_nodes(const NodesByGpus& nodes, const GpuCounts& wanted);

}  // namespace ares::core
