// Errors that NVIDIA's driver reports while GPUs are in use (XID).
// The calls may block in the driver, as those of discover().
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "gres/nvml/discover.h"

namespace ares::gres::nvml {

struct GpuError {
  std::string bus_id;     // empty: the driver does not say of which GPU
  std::uint64_t xid = 0;  // its number in the driver; 0 = the driver lost a GPU
};

// Whether the GPU may be at fault. Others are errors of programs, which end with them.
bool concerns_hardware(const GpuError& error);

// Reports errors until `go_on`, which is asked every second, is false, or the driver loses a GPU.
// Errors as Library::open(); failed_precondition: no GPU reports its errors.
Status watch_errors(const Options& options, const std::function<void(const GpuError&)>& report,
                    const std::function<bool()>& go_on);

}  // namespace ares::gres::nvml
