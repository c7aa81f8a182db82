// GpuDevices: the device files of a node's GPUs, which jobs without these GPUs must not open.
// Found once when aresd starts; a value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "config/values.h"
#include "gres/found/offer.h"

namespace ares::aresd {

struct GpuDevices {
  // As the kernel names them: "c 195:0". A GPU without files has no entry.
  std::map<GpuIndex, std::vector<std::string>> of;
  std::vector<std::string> problems;  // configured files that are no devices, for the log
};

// Those that ares.yaml lists, else those that discovery found, else those of NVIDIA's driver in the
// order of their addresses on the PCI bus, which is that of nvidia-smi. `driver` is the driver's
// folder in /proc.
GpuDevices gpu_devices(const config::ConfiguredNode& configured, const Inventory& inventory,
                       const std::optional<gres::Offer>& found = {},
                       const std::string& driver = "/proc/driver/nvidia/gpus");

}  // namespace ares::aresd
