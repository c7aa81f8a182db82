// Parts of GPUs (model/job/gpu_part.h) in the engine: whether a job gets the part that it asked for, and what is used of each device.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/engine/state.h"
#include "model/job/gpu_part.h"

namespace ares::core {

// Whether each share has just the part of one device that the job asked for, or whole devices if it asked for none. Of a job that takes
// whole nodes, by itself or for its partition, whether it has whole devices.
bool has_requested_part(const ClusterState& state, const JobSpec& spec,
                        const std::string& partition, std::uint32_t alternative,
                        const NodeShares& nodes);

// Thousandths of each device, added up from shares and charges of one node.
class DeviceUse {
 public:
  // Of the same share or charge no device twice.
  template <class Share>
  bool add(const Share& share) {
    const std::uint32_t each = held_of_each(share.gpu_part);
    bool fits = share.gpu_part < kWholeGpu && (share.gpu_part == 0 || share.gpus.size() == 1);
    for (const GpuIndex gpu : share.gpus) {
      std::uint32_t& used = used_[gpu];
      used += each;
      fits = fits && used <= kWholeGpu;
    }
    return fits;  // nobody has more of a device than there is
  }

 private:
  std::map<GpuIndex, std::uint32_t> used_;
};

}  // namespace ares::core
