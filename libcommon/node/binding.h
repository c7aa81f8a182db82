// What of its CPUs an attempt uses on one node, and where its memory comes from. Worked out by the
// node agent from the allocation, the options of the job and the layout of the machine; carried out
// by aresstepd. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/interval_set.h"
#include "model/cluster/cpu_layout.h"
#include "model/engine/node_message.h"

namespace ares::node {

enum class MemoryPolicy : std::uint8_t {
  none,    // the kernel's default: where the CPU is that allocates
  prefer,  // from these nodes first
  bind,    // from these nodes only
};

struct StepBinding {
  // CPUs of the attempt that it may use at all, where these are not all of its CPUs; else empty.
  IntervalSet usable_cpus;
  // Affinity of the batch script, where it is not all usable CPUs; else empty.
  IntervalSet script_cpus;
  bool unbound = false;  // no affinity is set
  MemoryPolicy policy = MemoryPolicy::none;
  IntervalSet memory_nodes;        // of the policy
  std::vector<std::string> notes;  // what the user asked for and does not get, with the reason
  bool verbose = false;            // the user wants to read how the script is bound

  friend bool operator==(const StepBinding&, const StepBinding&) = default;
};

// By default memory is preferred on the NUMA nodes of the attempt's CPUs and GPUs. Nothing is set
// where that are all nodes of the machine, or the layout is not known.
// `gpu_numa_nodes`: nearest to each GPU of the machine.
StepBinding bind_step(const LaunchSpec& launch, const CpuLayout& layout,
                      const std::map<GpuIndex, IntervalSet>& gpu_numa_nodes);

// The CPUs that the attempt may use: those of its share that `usable_cpus` leaves.
std::vector<std::uint32_t> usable_cpus(const NodeShare& share, const StepBinding& binding);

// The NUMA nodes that --mem-bind leaves to all tasks of the attempt together; empty: any.
IntervalSet allowed_memory(const StepBinding& binding, const JobBinding& options);

// For users: "CPUs 0-3, memory from NUMA node 0 first".
std::string describe(const NodeShare& share, const StepBinding& binding);

}  // namespace ares::node
