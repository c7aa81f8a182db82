#include "gres/pci/pci.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/printable.h"

namespace ares::gres::pci {
namespace {

namespace fs = std::filesystem;
using core::topology::Link;
using core::topology::Path;

constexpr unsigned kNvidia = 0x10de, kAmd = 0x1002, kIntel = 0x8086;

// The first line; empty if the file cannot be read.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::optional<unsigned> hex(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// "/sys/devices/pci0000:00/0000:00:02.0/0000:07:00.0" from its root complex on.
std::vector<std::string> path_of(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  std::vector<std::string> path;
  for (const fs::path& part : error ? device : real) {
    const std::string name = part.string();
    if (name.starts_with("pci") && name.find(':') != std::string::npos) path.clear();
    if (!path.empty() || name.starts_with("pci")) path.push_back(name);
  }
  return path;
}

Function function_of(const fs::path& folder, std::string address) {
  Function out;
  out.address = std::move(address);
  out.path = path_of(folder);
  out.vendor = hex(line_of(folder / "vendor")).value_or(0);
  out.device = hex(line_of(folder / "device")).value_or(0);
  out.kind = hex(line_of(folder / "class")).value_or(0) >> 8;
  int numa = -1;  // as the kernel says of machines with one node
  std::istringstream(line_of(folder / "numa_node")) >> numa;
  if (numa >= 0) out.numa = static_cast<unsigned>(numa);
  if (auto cpus = parse_interval_set(line_of(folder / "local_cpulist"), 65535)) out.cpus = *cpus;
  return out;
}

bool is_display(unsigned kind) {
  return kind == 0x0300 || kind == 0x0380;
}

std::string model_of(const Function& function) {
  char text[32];
  std::snprintf(text, sizeof text, "PCI %04x:%04x", function.vendor, function.device);
  return text;
}

// From the line "Device Minor: 	 3".
std::optional<std::uint32_t> nvidia_minor(const std::string& root, const std::string& address) {
  std::ifstream in(root + "/proc/driver/nvidia/gpus/" + address + "/information");
  constexpr std::string_view kKey = "Device Minor:";
  for (std::string line; std::getline(in, line);) {
    std::uint32_t minor = 0;
    if (line.starts_with(kKey) && std::istringstream(line.substr(kKey.size())) >> minor)
      return minor;
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<Function>> functions(const std::string& root) {
  const fs::path folder = root + "/sys/bus/pci/devices";
  std::error_code error;
  std::vector<Function> out;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (auto address = pci_address(entry.path().filename().string()))
      out.push_back(function_of(entry.path(), *std::move(address)));
  if (error)
    return fail(ErrorCode::not_found, "cannot read " + folder.string() + ": " + error.message());
  std::sort(out.begin(), out.end(), [](const Function& a, const Function& b) {
    return std::pair(a.address.size(), a.address) < std::pair(b.address.size(), b.address);
  });
  return out;
}

bool is_gpu(const Function& function) {
  const bool known =
      function.vendor == kNvidia || function.vendor == kAmd || function.vendor == kIntel;
  if (function.kind == 0x0302) return true;
  if (function.kind == 0x1200) return known;
  const bool in_processor = function.vendor == kIntel && function.address.starts_with("0000:00:");
  return is_display(function.kind) && known && !in_processor;
}

core::topology::Path path_between(const Function& a, const Function& b) {
  std::size_t common = 0;
  while (common < std::min(a.path.size(), b.path.size()) && a.path[common] == b.path[common])
    ++common;
  // The root complex alone is no switch; it stands at the start of the path.
  if (common > 1) {
    const auto bridges = [&](const Function& f) {
      return f.path.size() > common + 1 ? f.path.size() - common - 1 : 0;
    };
    return bridges(a) <= 1 && bridges(b) <= 1 ? Path::pix : Path::pxb;
  }
  if (common == 1) return Path::phb;
  if (a.numa && a.numa == b.numa) return Path::node;
  // Unknown NUMA nodes with the same nearest CPUs: a machine with one node.
  return !a.numa && !b.numa && !a.cpus.empty() && a.cpus == b.cpus ? Path::node : Path::sys;
}

void add_device_files(const std::string& root, FoundGpu& gpu) {
  if (gpu.bus_id.empty()) return;
  gpu.minor = nvidia_minor(root, gpu.bus_id);
  if (gpu.minor) gpu.devices.push_back("/dev/nvidia" + std::to_string(*gpu.minor));
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry :
       fs::directory_iterator(root + "/sys/bus/pci/devices/" + gpu.bus_id + "/drm", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("card") || name.starts_with("renderD"))
      files.push_back("/dev/dri/" + printable(name));
  }
  std::sort(files.begin(), files.end());
  gpu.devices.insert(gpu.devices.end(), files.begin(), files.end());
}

Result<FoundMachine> discover(const std::string& root) {
  Result<std::vector<Function>> all = functions(root);
  if (!all) return fail(all.error());
  std::erase_if(*all, [](const Function& function) { return !is_gpu(function); });
  FoundMachine found;
  found.source = "pci";
  for (const Function& function : *all) {
    FoundGpu gpu;
    gpu.index = static_cast<std::uint16_t>(found.gpus.size());
    gpu.type = "gpu";
    gpu.name = model_of(function);
    gpu.bus_id = function.address;
    gpu.cpus = function.cpus;
    if (function.numa) gpu.numa.insert(*function.numa);
    add_device_files(root, gpu);
    found.gpus.push_back(std::move(gpu));
  }
  found.forget_links();
  for (std::size_t a = 0; a < all->size(); ++a)
    for (std::size_t b = a + 1; b < all->size(); ++b)
      found.set_link(a, b, Link{0, path_between((*all)[a], (*all)[b])});
  return found;
}

}  // namespace ares::gres::pci
