// How aresd finds the GPUs that a node offers: by the source that ares.yaml names for it.
// Used once when aresd starts, in its main thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/values.h"
#include "gres/found/found.h"
#include "gres/found/offer.h"

namespace ares::aresd {

// Runs a source in this process: "auto", "nvml", "amd", "pci" or the absolute path of a file. A
// driver may block it for ever, or end the process. "auto" takes the first of nvml and amd that
// finds GPUs; without any, the source of the result is "none" and its notes say why.
Result<gres::FoundMachine> discover_here(const std::string& source);

// The same in another process if a driver is involved (aresd/gpus/discovery_child.h); a file is read
// here. `cancel` becomes readable when the other process is to be given up.
Result<gres::FoundMachine> discover(const std::string& source, Seconds timeout, int cancel = -1);

// What a line of the log says, and whether it concerns the operator.
using DiscoveryLog = std::function<void(const std::string& text, bool concerns_operator)>;

// What the node offers; no value: ares.yaml alone says which GPUs it has. If a driver fails, it
// offers none, and the log says why. Errors: a file that cannot be read or is invalid; for a
// simulated node any source but a file, since the GPUs of this machine are not its own.
Result<std::optional<gres::Offer>> find_gpus(const config::ConfiguredNode& node, Seconds timeout,
                                             bool simulated, const DiscoveryLog& log);

// The names of offered GPUs by which jobs see them, if indices are not safe: CUDA counts only GPUs
// whose device files a job may open, which `confined` jobs may not for those of others. Empty:
// indices are.
std::map<GpuIndex, std::string> gpu_names(const std::optional<gres::Offer>& offer, bool confined);

// --discover: prints what was found as JSON. --discover-here: the same for discovery_child, with
// what the driver's library prints kept out of it.
Status print_found(const std::string& source, Seconds timeout);
Status print_found_here(const std::string& source);

}  // namespace ares::aresd
