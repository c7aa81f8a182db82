// What a job needs of each of its nodes at least: of one that counts whole CPUs, and of one that counts thousandths of
// them. For the check whether a request could ever run. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/units.h"
#include "model/cluster/resources.h"
#include "model/job/job.h"

namespace ares::core {

// CPUs are thousandths.
struct NodeNeed {
  std::uint64_t per_task = 0;
  std::uint64_t cpus = 0;
  Bytes memory{};
};

// `exact`: of nodes that count thousandths. `gpus_per_task`, `gpus_each`: of a task, and of a node.
NodeNeed node_need(const JobSpec& spec, bool exact, std::uint64_t gpus_per_task,
                   std::uint64_t gpus_each);

constexpr std::uint64_t in_thousandths(std::uint32_t cpus) {
  return std::uint64_t{cpus} * kWholeCpu;
}
std::string cpus_text(std::uint64_t thousandths);                // "0.5"
Bytes memory_of_cpus(Bytes per_cpu, std::uint64_t thousandths);  // rounded up

}  // namespace ares::core
