#include "gres/nvml/mig.h"

#include <algorithm>
#include <fstream>
#include <optional>

#include "base/printable.h"
#include "gres/nvml/use.h"

namespace ares::gres::nvml {
namespace {

constexpr unsigned kMostInstances = 64;

// The minor number in a file of /proc/driver/nvidia/capabilities: "DeviceFileMinor: 30".
std::optional<unsigned> capability(const std::string& path) {
  std::ifstream file(path);
  unsigned minor = 0;
  for (std::string word; file >> word;)
    if (word == "DeviceFileMinor:" && file >> minor) return minor;
  return std::nullopt;
}

void add_devices(const std::string& root, const FoundGpu& gpu, FoundInstance& instance) {
  if (!gpu.minor) return;
  const std::string folder = root + "/proc/driver/nvidia/capabilities/gpu" +
                             std::to_string(*gpu.minor) + "/mig/gi" +
                             std::to_string(instance.gpu_instance);
  for (const std::string& path :
       {folder + "/access", folder + "/ci" + std::to_string(instance.compute_instance) + "/access"})
    if (const auto minor = capability(path))
      instance.devices.push_back("/dev/nvidia-caps/nvidia-cap" + std::to_string(*minor));
}

}  // namespace

std::string profile_of(const std::string& name, const Attributes& attributes) {
  constexpr std::string_view kMark = "MIG ";
  if (const std::size_t at = name.rfind(kMark); at != std::string::npos) {
    std::string word = name.substr(at + kMark.size());
    if (is_type_word(word)) return word;
  }
  if (attributes.gpu_slices == 0 || attributes.memory_mib == 0) return "unknown";
  std::string profile;
  if (attributes.compute_slices > 0 && attributes.compute_slices != attributes.gpu_slices)
    profile = std::to_string(attributes.compute_slices) + "c.";
  // The driver keeps a part of the memory, so the name of a profile is rounded up.
  return profile + std::to_string(attributes.gpu_slices) + "g." +
         std::to_string((attributes.memory_mib + 1023) / 1024) + "gb";
}

void find_instances(const Library& library, Device device, const std::string& root, FoundGpu& gpu) {
  const Api& api = library.api();
  unsigned current = 0, pending = 0;
  if (!api.DeviceGetMigMode || api.DeviceGetMigMode(device, &current, &pending) != kSuccess) return;
  if (current != pending)
    gpu.notes.push_back(std::string("its MIG mode is switched ") + (pending ? "on" : "off") +
                        " at its next reset");
  if (current == 0) return;
  gpu.partitioned = true;
  unsigned most = 0;
  if (!api.DeviceGetMaxMigDeviceCount || !api.DeviceGetMigDeviceHandleByIndex ||
      !api.DeviceGetUUID || api.DeviceGetMaxMigDeviceCount(device, &most) != kSuccess) {
    gpu.notes.emplace_back("its MIG instances cannot be listed");
    return;
  }
  for (unsigned i = 0; i < std::min(most, kMostInstances); ++i) {
    Device handle = nullptr;
    const Return error = api.DeviceGetMigDeviceHandleByIndex(device, i, &handle);
    if (error != kSuccess) {
      if (error != kNotFound && error != kInvalidArgument)
        gpu.notes.push_back("MIG instance " + std::to_string(i) + ": " + library.describe(error));
      continue;
    }
    FoundInstance instance;
    char text[kUuidSize] = "", name[kNameSize] = "";
    if (api.DeviceGetUUID(handle, text, sizeof text) != kSuccess || text[0] == '\0') {
      gpu.notes.push_back("MIG instance " + std::to_string(i) + " has no UUID");
      continue;
    }
    instance.uuid = printable(text);
    Attributes attributes{};
    if (api.DeviceGetAttributes) (void)api.DeviceGetAttributes(handle, &attributes);
    (void)api.DeviceGetName(handle, name, sizeof name);
    name[sizeof name - 1] = '\0';
    instance.profile = profile_of(printable(name), attributes);
    Memory memory{};
    if (api.DeviceGetMemoryInfo && api.DeviceGetMemoryInfo(handle, &memory) == kSuccess)
      instance.memory = Bytes(static_cast<std::int64_t>(memory.total));
    if (api.DeviceGetGpuInstanceId)
      (void)api.DeviceGetGpuInstanceId(handle, &instance.gpu_instance);
    if (api.DeviceGetComputeInstanceId)
      (void)api.DeviceGetComputeInstanceId(handle, &instance.compute_instance);
    add_devices(root, gpu, instance);
    instance.use = find_use(library, handle);
    gpu.instances.push_back(std::move(instance));
  }
}

}  // namespace ares::gres::nvml
