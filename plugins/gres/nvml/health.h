// Whether a GPU is fit for jobs, by what the driver counted.
// Used by discover(); one thread.
#pragma once

#include "gres/found/found.h"
#include "gres/nvml/library.h"

namespace ares::gres::nvml {

// Sets `problem` for conditions that need a reset or a repair: uncorrectable errors of its memory
// since the driver was loaded, or a row of memory that could not be replaced. Notes what waits for
// the next reset. What the GPU does not support is not a problem.
void check_health(const Library& library, Device device, FoundGpu& gpu);

}  // namespace ares::gres::nvml
