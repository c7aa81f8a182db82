// What uses a GPU, or an instance of one, by NVIDIA's library.
// Used by discover(); one thread.
#pragma once

#include "gres/found/found.h"
#include "gres/nvml/library.h"

namespace ares::gres::nvml {

// What the library does not tell counts as unused.
Use find_use(const Library& library, Device device);

}  // namespace ares::gres::nvml
