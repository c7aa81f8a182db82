// Parts of GPUs (model/job/gpu_part.h): whether a job gets the requested part, and how much of each
// device is used. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/engine/state.h"
#include "model/job/gpu_part.h"

namespace ares::core {

// Whether each share has exactly the requested part of one device, or whole devices if the job
// requested none. A job with whole nodes, by specification or partition, must have whole devices.
bool has_requested_part(const ClusterState& state, const JobSpec& spec,
                        const std::string& partition, std::uint32_t alternative,
                        const NodeShares& nodes);

// Thousandths of each device in use, added up from shares and charges of one node.
class DeviceUse {
 public:
  // False if the share is invalid, names a device twice, or uses more of a device than is left.
  template <class Share>
  bool add(const Share& share) {
    const std::uint32_t each = held_of_each(share.gpu_part);
    bool fits = share.gpu_part < kWholeGpu && (share.gpu_part == 0 || share.gpus.size() == 1);
    for (const GpuIndex gpu : share.gpus) {
      std::uint32_t& used = used_[gpu];
      used += each;
      fits = fits && used <= kWholeGpu;
    }
    return fits;
  }

 private:
  std::map<GpuIndex, std::uint32_t> used_;
};

}  // namespace ares::core
