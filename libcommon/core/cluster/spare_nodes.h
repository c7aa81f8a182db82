// Spare nodes (JobSpec::spare_nodes): allocated and charged like the others, but the script is not
// told of them. When a node fails, the next attempt runs on what is left of the allocation. They are
// the last nodes of an allocation in rank order. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "model/job/job.h"

namespace ares::core {

// Whether the specification, as submitted or stored, can have its spare nodes.
Status check_spare_nodes(const JobSpec& spec);

// The specification with that many more nodes of the same kind, and tasks on them; with fewer.
// Precondition: check_spare_nodes().
JobSpec with_more_nodes(JobSpec spec, std::uint32_t count);
JobSpec with_fewer_nodes(JobSpec spec, std::uint32_t count);

// The first nodes of an allocation of `allocated` nodes that are not spare.
std::size_t nodes_in_use(const JobSpec& spec, std::size_t allocated);

bool is_spare(const Job& job, NodeId node);

// The smallest number of nodes that a start of the job may have. Less than asked for if it returns
// first: then spare nodes replace failed ones.
std::uint32_t least_nodes(const Job& job);

}  // namespace ares::core
