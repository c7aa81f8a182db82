// What a node offers to jobs of the GPUs that were found.
// Pure functions; any thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "gres/found/found.h"
#include "model/cluster/resources.h"

namespace ares::gres {

struct OfferedGpu {
  Gpu gpu;
  std::vector<std::string> devices;    // files that jobs without it must not open
  std::optional<std::uint32_t> minor;  // of NVIDIA's driver
  std::string name;                    // by which the driver's libraries know it: its UUID
};

struct Offer {
  std::string source;            // as of FoundMachine
  std::vector<OfferedGpu> gpus;  // ascending index
  GpuTopology topology;
  // Whether these libraries may count otherwise than `gpus`, so that indices are not safe.
  bool only_names = false;
  std::vector<std::string> left_out;  // "GPU 3 (0000:87:00.0) is not offered: ..."
};

// GPUs with a problem are left out, and the others keep their indices. If a GPU is partitioned, its
// instances are offered in its place under types such as "a100_3g.20gb", and everything is numbered
// anew from 0. In both cases the driver's libraries know GPUs and instances only by name.
// A link that is unknown counts as NODE within a NUMA node, else as SYS.
Offer offer(const FoundMachine& machine);

// The same for those GPUs that the configuration lists, under its types. `left_out` names those
// that were not found; if more were found they are not offered, which `left_out` says as well.
Offer offer(const FoundMachine& machine, const std::vector<Gpu>& configured);

}  // namespace ares::gres
