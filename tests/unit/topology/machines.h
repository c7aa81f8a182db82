// Machines for tests: some described from documentation, some invented, and the recorded ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/topology/machine.h"

namespace ares::core::topology {

// How an invented machine is printed: "NV2", "PIX", ... between two GPUs, and a GPU's affinities.
struct Description {
  unsigned gpus = 0;
  std::function<std::string(unsigned a, unsigned b)> link;
  std::function<std::string(unsigned gpu)> cpus = [](unsigned) { return ""; };
  std::function<std::string(unsigned gpu)> numa = [](unsigned) { return ""; };
};

// The format of nvidia-smi, with tabs.
std::string text_of(const Description& machine);
MachineTopology machine_of(const Description& machine);
MachineTopology machine_of(const std::string& text);

Description dgx1();  // 8 V100 in a hybrid mesh of single and double NVLinks, 4 below each processor
Description dgx2();  // 16 V100 behind NVSwitches
Description dgx_a100();  // 8 A100 behind NVSwitches, 2 on each of 4 NUMA nodes
Description
pcie_tree();  // 16 GPUs: pairs below a switch, 4 below a host bridge, 8 below a processor
Description bridge_pairs();  // 8 GPUs in pairs joined by 4 NVLinks, 4 on each NUMA node
Description mesh4();         // 4 V100 joined by 1 or 2 NVLinks each (AWS p3.8xlarge)
Description
gaia_machine();  // the 4 GPUs of the Gaia paper's experiments: 2 and 3 nearer to each other than 0 and 1
// Random links between all pairs of GPUs.
Description irregular(unsigned gpus, std::uint32_t seed);

struct NamedMachine {
  std::string name;
  MachineTopology machine;
};
std::vector<NamedMachine> known_machines();

// The files of tests/data/topologies: name and text, in the order of names.
std::vector<std::pair<std::string, std::string>> recorded_texts();
// The machines of those files that parse.
std::vector<NamedMachine> recorded_machines();

}  // namespace ares::core::topology
