// Discovery from what the kernel tells of the PCI bus: the same for GPUs of every vendor, and
// without a library. It reads files of /sys, and of /proc for NVIDIA's driver. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/topology/link.h"
#include "gres/found/found.h"

namespace ares::gres::pci {

// A function of a PCI device.
struct Function {
  std::string address;  // "0000:07:00.0"
  std::vector<std::string>
      path;  // from the root complex to itself: "pci0000:00", "0000:00:02.0", ...
  unsigned vendor = 0;
  unsigned device = 0;
  unsigned kind = 0;  // its class and subclass: 0x0302 is a 3D controller
  std::optional<unsigned> numa{};
  IntervalSet cpus{};
};

// All functions, ordered by address. `root` is put in front of /sys, as below for /proc. not_found:
// the kernel tells of no PCI bus.
Result<std::vector<Function>> functions(const std::string& root);

// Whether jobs may compute on it: 3D controllers and processing accelerators of all vendors,
// display controllers of NVIDIA, AMD and Intel except for graphics inside a processor, which stand
// on bus 0.
bool is_gpu(const Function& function);

// PIX below one switch, PXB below several, PHB below one host bridge, NODE and SYS as the NUMA
// nodes say.
core::topology::Path path_between(const Function& a, const Function& b);

// Its files below /dev/dri, and /dev/nvidia3 with its `minor` if NVIDIA's driver serves it.
void add_device_files(const std::string& root, FoundGpu& gpu);

// GPUs in the order of their addresses. Their type is "gpu": the bus tells only numbers of models.
Result<FoundMachine> discover(const std::string& root = "");

}  // namespace ares::gres::pci
