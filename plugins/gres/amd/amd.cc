#include "gres/amd/amd.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "base/printable.h"
#include "gres/pci/pci.h"

namespace ares::gres::amd {
namespace {

namespace fs = std::filesystem;
using core::topology::Link;
using core::topology::Path;

constexpr std::uint64_t kXgmi = 11;  // type of a link between nodes
constexpr std::uint64_t kMostLinks = 64;

using Properties = std::map<std::string, std::uint64_t>;

// Lines of "key number".
Properties properties_of(const fs::path& file) {
  Properties out;
  std::ifstream in(file);
  std::string key;
  for (std::uint64_t value = 0; in >> key >> value;) out[key] = value;
  return out;
}

std::uint64_t value(const Properties& properties, const char* key) {
  const auto found = properties.find(key);
  return found == properties.end() ? 0 : found->second;
}

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return printable(line);
}

// A node of the kernel's list that is a GPU; nodes of processors have no gpu_id.
struct Node {
  std::uint64_t number = 0;
  fs::path folder;
  Properties properties;
};

std::vector<std::uint64_t> numbered(const fs::path& folder, std::error_code& error) {
  std::vector<std::uint64_t> numbers;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.empty() && name.size() < 10 &&
        std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      numbers.push_back(std::stoull(name));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<std::vector<Node>> gpu_nodes(const std::string& root) {
  const fs::path folder = root + "/sys/class/kfd/kfd/topology/nodes";
  std::error_code error;
  std::vector<Node> out;
  for (const std::uint64_t number : numbered(folder, error)) {
    Node node{number, folder / std::to_string(number), {}};
    std::uint64_t id = 0;
    std::ifstream(node.folder / "gpu_id") >> id;
    if (id == 0) continue;
    node.properties = properties_of(node.folder / "properties");
    out.push_back(std::move(node));
  }
  if (error)
    return fail(ErrorCode::not_found, "cannot read " + folder.string() + ": " + error.message());
  if (out.empty()) return fail(ErrorCode::not_found, folder.string() + " has no GPU");
  return out;
}

// "gfx90a" from 90010: two digits each of version, minor version and stepping.
std::string architecture(std::uint64_t version) {
  char text[24];
  std::snprintf(text, sizeof text, "gfx%u%x%x", static_cast<unsigned>(version / 10000 % 100),
                static_cast<unsigned>(version / 100 % 100), static_cast<unsigned>(version % 100));
  return text;
}

std::string address_of(const Properties& properties) {
  const std::uint64_t location = value(properties, "location_id");
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x",
                static_cast<unsigned>(value(properties, "domain")),
                static_cast<unsigned>(location >> 8 & 0xff),
                static_cast<unsigned>(location >> 3 & 0x1f), static_cast<unsigned>(location & 7));
  return pci_address(text).value_or("");
}

FoundGpu gpu_of(const std::string& root, const Node& node, std::uint16_t index) {
  FoundGpu gpu;
  gpu.index = index;
  gpu.bus_id = address_of(node.properties);
  const fs::path device = root + "/sys/bus/pci/devices/" + gpu.bus_id;
  gpu.name = line_of(device / "product_name");
  gpu.type = type_word(gpu.name);
  const std::uint64_t version = value(node.properties, "gfx_target_version");
  if (gpu.name.empty() && version != 0) gpu.type = gpu.name = architecture(version);
  if (const std::uint64_t unique = value(node.properties, "unique_id"); unique != 0) {
    char text[32];
    std::snprintf(text, sizeof text, "GPU-%016llx", static_cast<unsigned long long>(unique));
    gpu.uuid = text;
  }
  std::int64_t memory = 0;
  std::ifstream(device / "mem_info_vram_total") >> memory;
  gpu.memory = Bytes(std::max<std::int64_t>(memory, 0));
  std::int64_t used = 0;
  std::ifstream(device / "mem_info_vram_used") >> used;
  gpu.use.memory = Bytes(std::max<std::int64_t>(used, 0));
  const std::uint64_t minor = value(node.properties, "drm_render_minor");
  pci::add_device_files(root, gpu);
  if (gpu.devices.empty() && minor != 0)
    gpu.devices.push_back("/dev/dri/renderD" + std::to_string(minor));
  return gpu;
}

// How many XGMI links join the node with others, by their number: the bandwidth of all in that of
// one.
std::map<std::uint64_t, std::uint64_t> xgmi_of(const Node& node) {
  std::map<std::uint64_t, std::uint64_t> out;
  std::error_code error;
  for (const std::uint64_t number : numbered(node.folder / "io_links", error)) {
    const Properties link =
        properties_of(node.folder / "io_links" / std::to_string(number) / "properties");
    if (value(link, "type") != kXgmi) continue;
    const std::uint64_t one = value(link, "min_bandwidth"), all = value(link, "max_bandwidth");
    const std::uint64_t count = one == 0 ? 1 : std::clamp<std::uint64_t>(all / one, 1, kMostLinks);
    out[value(link, "node_to")] = count;
  }
  return out;
}

}  // namespace

Result<FoundMachine> discover(const std::string& root) {
  const Result<std::vector<Node>> nodes = gpu_nodes(root);
  if (!nodes) return fail(nodes.error());
  FoundMachine found;
  found.source = "amd";
  found.driver = line_of(root + "/sys/module/amdgpu/version");
  const Result<std::vector<pci::Function>> bus = pci::functions(root);
  if (!bus) found.notes.push_back("paths and nearest CPUs are unknown: " + bus.error().message);
  std::vector<const pci::Function*> functions;
  for (const Node& node : *nodes) {
    FoundGpu gpu = gpu_of(root, node, static_cast<std::uint16_t>(found.gpus.size()));
    const pci::Function* at = nullptr;
    if (bus)
      for (const pci::Function& function : *bus)
        if (function.address == gpu.bus_id) at = &function;
    functions.push_back(at);
    if (at) {
      gpu.cpus = at->cpus;
      if (at->numa) gpu.numa.insert(*at->numa);
    } else if (bus) {
      gpu.notes.push_back("it is not on the PCI bus at " + gpu.bus_id);
    }
    found.gpus.push_back(std::move(gpu));
  }
  found.forget_links();
  for (std::size_t a = 0; a < nodes->size(); ++a) {
    const auto xgmi = xgmi_of((*nodes)[a]);
    for (std::size_t b = 0; b < nodes->size(); ++b) {
      if (a == b) continue;
      if (const auto joined = xgmi.find((*nodes)[b].number); joined != xgmi.end())
        found.set_link(a, b, Link{static_cast<std::uint8_t>(joined->second), Path::sys});
      else if (!found.link(a, b) && functions[a] && functions[b])
        found.set_link(a, b, Link{0, pci::path_between(*functions[a], *functions[b])});
    }
  }
  return found;
}

}  // namespace ares::gres::amd
