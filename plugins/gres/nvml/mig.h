// Instances of a GPU in MIG mode.
// Used by discover(); one thread.
#pragma once

#include <string>

#include "gres/found/found.h"
#include "gres/nvml/library.h"

namespace ares::gres::nvml {

// Fills in `partitioned` and `instances`. `root` is put in front of /proc, where the driver tells
// which device files belong to an instance. Notes what cannot be read.
void find_instances(const Library& library, Device device, const std::string& root, FoundGpu& gpu);

// "3g.20gb" from the name of an instance ("NVIDIA A100-SXM4-40GB MIG 3g.20gb"), else from its
// sizes; "unknown" if neither says.
std::string profile_of(const std::string& name, const Attributes& attributes);

}  // namespace ares::gres::nvml
