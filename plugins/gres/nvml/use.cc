#include "gres/nvml/use.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ares::gres::nvml {
namespace {

constexpr unsigned kMostProcesses = 256;

template <class Row, class Get>
std::vector<std::uint32_t> processes_by(const Get& get, Device device) {
  std::array<Row, kMostProcesses> rows{};
  unsigned count = rows.size();
  // A GPU with more than these is in use in any case.
  const Return error = get(device, &count, rows.data());
  if (error != kSuccess && error != kInsufficientSize) return {};
  std::vector<std::uint32_t> out;
  for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i)
    if (rows[i].pid != 0) out.push_back(rows[i].pid);
  return out;
}

}  // namespace

Use find_use(const Library& library, Device device) {
  const Api& api = library.api();
  Use use;
  MemoryApart apart{};
  apart.version = kMemoryApartVersion;
  Memory memory{};
  if (api.DeviceGetMemoryInfo_v2 && api.DeviceGetMemoryInfo_v2(device, &apart) == kSuccess)
    use.memory = Bytes(static_cast<std::int64_t>(apart.used));
  else if (api.DeviceGetMemoryInfo && api.DeviceGetMemoryInfo(device, &memory) == kSuccess)
    use.memory = Bytes(static_cast<std::int64_t>(memory.used));
  if (api.DeviceGetComputeRunningProcesses)
    use.processes = processes_by<Process>(api.DeviceGetComputeRunningProcesses, device);
  else if (api.DeviceGetComputeRunningProcesses_v1)
    use.processes = processes_by<OldProcess>(api.DeviceGetComputeRunningProcesses_v1, device);
  return use;
}

}  // namespace ares::gres::nvml
