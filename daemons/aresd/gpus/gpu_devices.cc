#include "aresd/gpus/gpu_devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <sstream>

#include "os/fd.h"
#include "os/file.h"

namespace ares::aresd {
namespace {

constexpr unsigned kNvidia = 195;  // major number of the driver's character devices

std::string kernel_name(unsigned major, unsigned minor) {
  return "c " + std::to_string(major) + ":" + std::to_string(minor);
}

// "/dev/dri/card0,/dev/dri/renderD128"
void add_files(const std::string& files, GpuIndex gpu, GpuDevices& devices) {
  std::istringstream paths(files);
  for (std::string path; std::getline(paths, path, ',');) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
      devices.problems.push_back(os::errno_error("cannot find " + path).message);
    else if (!S_ISCHR(info.st_mode))
      devices.problems.push_back(path + " is not a character device");
    else
      devices.of[gpu].push_back(kernel_name(major(info.st_rdev), minor(info.st_rdev)));
  }
}

// From the line "Device Minor: 	 3".
void add_minor(const std::string& information, GpuIndex gpu, GpuDevices& devices) {
  constexpr std::string_view kKey = "Device Minor:";
  const std::size_t at = information.find(kKey);
  unsigned minor = 0;
  if (at == std::string::npos ||
      !(std::istringstream(information.substr(at + kKey.size())) >> minor))
    return;
  devices.of[gpu].push_back(kernel_name(kNvidia, minor));
}

// The file of NVIDIA's driver may not be there yet: its first user makes it.
void add_found(const gres::OfferedGpu& offered, const config::ConfiguredNode& configured,
               GpuDevices& devices) {
  const GpuIndex index = offered.gpu.index;
  if (index.value() < configured.gpu_devices.size())
    return add_files(configured.gpu_devices[index.value()], index, devices);
  std::string of_driver;
  if (offered.minor) {
    devices.of[index].push_back(kernel_name(kNvidia, *offered.minor));
    of_driver = "/dev/nvidia" + std::to_string(*offered.minor);
  }
  for (const std::string& file : offered.devices)
    if (file != of_driver) add_files(file, index, devices);
}

}  // namespace

GpuDevices gpu_devices(const config::ConfiguredNode& configured, const Inventory& inventory,
                       const std::optional<gres::Offer>& found, const std::string& driver) {
  GpuDevices devices;
  if (found) {
    for (const gres::OfferedGpu& offered : found->gpus) add_found(offered, configured, devices);
    return devices;
  }
  if (!configured.gpu_devices.empty()) {
    const std::size_t count = std::min(configured.gpu_devices.size(), inventory.gpus.size());
    for (std::size_t i = 0; i < count; ++i)
      add_files(configured.gpu_devices[i], inventory.gpus[i].index, devices);
    return devices;
  }
  Result<std::vector<std::string>> addresses = os::list_directory(driver);
  if (!addresses) return devices;
  std::sort(addresses->begin(), addresses->end());
  const std::size_t count = std::min(addresses->size(), inventory.gpus.size());
  for (std::size_t i = 0; i < count; ++i)
    if (const Result<std::string> text =
            os::read_file(driver + "/" + (*addresses)[i] + "/information"))
      add_minor(*text, inventory.gpus[i].index, devices);
  return devices;
}

}  // namespace ares::aresd
