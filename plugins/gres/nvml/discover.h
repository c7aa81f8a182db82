// Discovery by the library of NVIDIA's driver.
// Calls may block in the driver: aresd runs this in a process of its own (aresd/gpus/discovery_child.h).
#pragma once

#include <string>

#include "base/result.h"
#include "gres/found/found.h"

namespace ares::gres::nvml {

struct Options {
  std::string library = "libnvidia-ml.so.1";
  std::string root;  // in front of /proc, for tests
};

// All GPUs of the driver. One that does not answer is in the result with its `problem`. Errors as
// Library::open(), and failed_precondition if the GPUs cannot be counted.
Result<FoundMachine> discover(const Options& options = {});

}  // namespace ares::gres::nvml
