// Generated workloads: a YAML file describes kinds of jobs, the number of each, and their arrivals.
//
//   jobs:
//     - {name: small, user: alice, count: 1000, every: 30, arrivals: random, run: [60, 3600], tasks: [1, 8]}
//     - {name: train, submit: 3600, run: 2:00:00, time_limit: 4:00:00, nodes: 2, gpus: "a100:4"}
#pragma once

#include <string>

#include "asim/workload.h"
#include "base/result.h"

namespace ares::sim {

// Errors name file and line. Equal seeds give equal workloads.
Result<Workload> read_yaml_workload(const std::string& path, std::uint64_t seed);
Result<Workload> parse_yaml_workload(const std::string& text, const std::string& name,
                                     std::uint64_t seed);

// The keys with their types and descriptions, one paragraph each, for the manual page.
std::vector<std::string> yaml_workload_keys();

}  // namespace ares::sim
