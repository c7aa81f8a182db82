// What the server library of PMIx is told of a step and its ranks. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "mpi/pmix/info_list.h"
#include "pmi/task_map.h"

namespace ares::mpi::pmix {

// "0,1;2,3": the ranks of each node.
std::string ranks_of_nodes(const pmi::TaskMap& map);

InfoList describe_server(const pmi::TaskMap& map, const std::vector<std::string>& hostnames,
                         const std::string& directory);

InfoList describe_step(const pmi::TaskMap& map, const std::string& space,
                       const std::vector<std::string>& hostnames, const std::string& directory);

}  // namespace ares::mpi::pmix
