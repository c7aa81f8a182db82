// Links between GPUs: NVLinks that are active, else the path over PCIe.
// Used by discover(); one thread.
#pragma once

#include <string>
#include <vector>

#include "gres/found/found.h"
#include "gres/nvml/library.h"

namespace ares::gres::nvml {

// Fills in the links between GPUs and adds to the notes. `handles` are those of `found.gpus`; null
// for a GPU that does not answer.
//
// Two GPUs with direct links are joined by those. A link to an NVSwitch leads to all GPUs that have
// such links: two of them are joined by as many links as the one with fewer has, if the driver says
// that one can copy to the other by NVLink.
void find_links(const Library& library, const std::vector<Device>& handles, FoundMachine& found);

// The address that NVML wrote there; empty if it wrote none.
std::string bus_id_of(const PciInfo& info);

}  // namespace ares::gres::nvml
