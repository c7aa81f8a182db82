#include "gres/nvml/discover.h"

#include <array>

#include "base/printable.h"
#include "gres/nvml/health.h"
#include "gres/nvml/library.h"
#include "gres/nvml/links.h"
#include "gres/nvml/mig.h"
#include "gres/nvml/use.h"

namespace ares::gres::nvml {
namespace {

constexpr unsigned kMostGpus = 256;
constexpr std::size_t kAffinityWords = 128;  // 8192 CPUs
constexpr std::size_t kWordBits = 8 * sizeof(unsigned long);

using Words = std::array<unsigned long, kAffinityWords>;

// Bits are numbered from the lowest of the first word.
IntervalSet bits_of(const Words& words) {
  IntervalSet set;
  for (std::size_t i = 0; i < words.size() * kWordBits; ++i)
    if ((words[i / kWordBits] >> (i % kWordBits) & 1) != 0)
      set.insert(static_cast<std::uint32_t>(i));
  return set;
}

// The text that `get` writes to a buffer of `size`; empty if it fails.
template <class Get>
std::string text_of(unsigned size, const Get& get) {
  std::string text(size, '\0');
  if (get(text.data(), size) != kSuccess) return {};
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return printable(text);
}

void find_affinity(const Library& library, Device device, FoundGpu& gpu) {
  const Api& api = library.api();
  Words words{};
  Return got = kFunctionNotFound;
  if (api.DeviceGetCpuAffinityWithinScope)
    got = api.DeviceGetCpuAffinityWithinScope(device, kAffinityWords, words.data(), kNodeScope);
  if (got != kSuccess && api.DeviceGetCpuAffinity) {
    words = {};
    got = api.DeviceGetCpuAffinity(device, kAffinityWords, words.data());
  }
  if (got == kSuccess)
    gpu.cpus = bits_of(words);
  else if (got != kNotSupported && got != kFunctionNotFound)
    gpu.notes.push_back("its nearest CPUs are unknown: " + library.describe(got));
  words = {};
  if (api.DeviceGetMemoryAffinity &&
      api.DeviceGetMemoryAffinity(device, kAffinityWords, words.data(), kNodeScope) == kSuccess)
    gpu.numa = bits_of(words);
  unsigned node = 0;
  if (api.DeviceGetNumaNodeId && api.DeviceGetNumaNodeId(device, &node) == kSuccess &&
      node < kAffinityWords * kWordBits)
    gpu.own_numa.insert(node);
}

void find_properties(const Library& library, Device device, FoundGpu& gpu) {
  const Api& api = library.api();
  gpu.name = text_of(
      kNameSize, [&](char* text, unsigned size) { return api.DeviceGetName(device, text, size); });
  gpu.type = type_word(gpu.name);
  if (api.DeviceGetUUID)
    gpu.uuid = text_of(kUuidSize, [&](char* text, unsigned size) {
      return api.DeviceGetUUID(device, text, size);
    });
  PciInfo pci{};
  if (api.DeviceGetPciInfo && api.DeviceGetPciInfo(device, &pci) == kSuccess)
    gpu.bus_id = bus_id_of(pci);
  Memory memory{};
  if (api.DeviceGetMemoryInfo && api.DeviceGetMemoryInfo(device, &memory) == kSuccess)
    gpu.memory = Bytes(static_cast<std::int64_t>(memory.total));
  unsigned minor = 0;
  if (api.DeviceGetMinorNumber && api.DeviceGetMinorNumber(device, &minor) == kSuccess) {
    gpu.minor = minor;
    gpu.devices.push_back("/dev/nvidia" + std::to_string(minor));
  }
}

}  // namespace

Result<FoundMachine> discover(const Options& options) {
  const Result<Library> library = Library::open(options.library);
  if (!library) return fail(library.error());
  const Api& api = library->api();
  FoundMachine found;
  found.source = "nvml";
  if (!library->missing().empty()) {
    std::string names;
    for (const std::string& name : library->missing()) names += (names.empty() ? "" : ", ") + name;
    found.notes.push_back("this version of the library has no " + names);
  }
  if (api.SystemGetDriverVersion)
    found.driver = text_of(kDriverVersionSize, api.SystemGetDriverVersion);
  unsigned count = 0;
  if (const Return error = api.DeviceGetCount(&count); error != kSuccess)
    return fail(ErrorCode::failed_precondition,
                "cannot count the GPUs: " + library->describe(error));
  if (count > kMostGpus)
    return fail(ErrorCode::failed_precondition,
                "the driver says that there are " + std::to_string(count) + " GPUs");
  std::vector<Device> handles;
  for (unsigned i = 0; i < count; ++i) {
    FoundGpu gpu;
    gpu.index = static_cast<std::uint16_t>(i);
    gpu.type = "gpu";
    Device device = nullptr;
    if (const Return error = api.DeviceGetHandleByIndex(i, &device); error == kSuccess) {
      find_properties(*library, device, gpu);
      find_affinity(*library, device, gpu);
      check_health(*library, device, gpu);
      gpu.use = find_use(*library, device);
      find_instances(*library, device, options.root, gpu);
    } else {
      device = nullptr;
      gpu.problem = "the driver cannot use it: " + library->describe(error);
    }
    handles.push_back(device);
    found.gpus.push_back(std::move(gpu));
  }
  find_links(*library, handles, found);
  return found;
}

}  // namespace ares::gres::nvml
