// Discovery of AMD's GPUs from what the kernel tells of them (KFD, DRM), without ROCm. It reads
// files of /sys. Any thread.
#pragma once

#include <string>

#include "base/result.h"
#include "gres/found/found.h"

namespace ares::gres::amd {

// GPUs in the order of the kernel's nodes, which is that of ROCm. Two that are joined by XGMI have
// as many NVLinks as they have XGMI links: the model has one kind of direct link. `root` is put in
// front of /sys. not_found: the kernel's driver for computing on AMD's GPUs is not loaded, or it
// has no GPU.
Result<FoundMachine> discover(const std::string& root = "");

}  // namespace ares::gres::amd
