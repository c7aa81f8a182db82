#include "gres/nvml/links.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace ares::gres::nvml {
namespace {

using core::topology::Link;
using core::topology::Path;

// The active NVLinks of one GPU.
struct Lanes {
  std::map<std::string, unsigned> to;  // GPUs of this machine, by their address
  unsigned to_switches = 0;
  unsigned to_others = 0;  // said to be GPUs, but none of this machine by their address
};

// What is at the other end of a link: a GPU, a switch, a processor. Old drivers do not tell; then
// what is none of the GPUs by its address is a switch.
void add_lane(const Library& library, Device device, unsigned link, const FoundMachine& found,
              Lanes& lanes) {
  const Api& api = library.api();
  unsigned type = kRemoteUnknown;
  if (api.DeviceGetNvLinkRemoteDeviceType &&
      api.DeviceGetNvLinkRemoteDeviceType(device, link, &type) != kSuccess)
    type = kRemoteUnknown;
  if (type == kRemoteSwitch) {
    ++lanes.to_switches;
    return;
  }
  if (type == kRemoteProcessor) return;
  PciInfo info{};
  std::string address;
  if (api.DeviceGetNvLinkRemotePciInfo &&
      api.DeviceGetNvLinkRemotePciInfo(device, link, &info) == kSuccess)
    address = bus_id_of(info);
  const bool known =
      !address.empty() && std::any_of(found.gpus.begin(), found.gpus.end(),
                                      [&](const FoundGpu& gpu) { return gpu.bus_id == address; });
  if (known)
    ++lanes.to[address];
  else if (type == kRemoteUnknown && !address.empty())
    ++lanes.to_switches;
  else
    ++lanes.to_others;
}

Lanes lanes_of(const Library& library, Device device, const FoundMachine& found) {
  const Api& api = library.api();
  Lanes lanes;
  if (!device || !api.DeviceGetNvLinkState) return lanes;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned active = 0;
    const Return state = api.DeviceGetNvLinkState(device, link, &active);
    if (state == kInvalidArgument) break;  // past its last link
    if (state == kSuccess && active != 0) add_lane(library, device, link, found, lanes);
  }
  return lanes;
}

std::optional<Path> path_of(unsigned level) {
  switch (level) {
    case kInternal:
    case kSingleSwitch: return Path::pix;
    case kSeveralSwitches: return Path::pxb;
    case kHostBridge: return Path::phb;
    case kNumaNode: return Path::node;
    case kSystem: return Path::sys;
  }
  return std::nullopt;
}

std::string pair_text(const FoundGpu& a, const FoundGpu& b) {
  return "GPU " + std::to_string(a.index) + " and GPU " + std::to_string(b.index);
}

unsigned direct(const Lanes& a, const std::string& address_b) {
  const auto lane = address_b.empty() ? a.to.end() : a.to.find(address_b);
  return lane == a.to.end() ? 0 : lane->second;
}

// A site with such GPUs expects NVLinks between them.
void note_unused_switches(const std::vector<Lanes>& lanes, FoundMachine& found) {
  for (std::size_t a = 0; a < lanes.size(); ++a) {
    bool used = lanes[a].to_switches == 0;
    for (std::size_t b = 0; b < lanes.size(); ++b)
      used = used || (found.link(a, b) && found.link(a, b)->nvlinks > 0);
    if (!used)
      found.gpus[a].notes.emplace_back(
          "it has NVLinks to switches but cannot copy to any GPU by them; does the fabric manager "
          "run?");
  }
}

}  // namespace

std::string bus_id_of(const PciInfo& info) {
  const auto text = [](const char* at, std::size_t size) {
    return std::string(at, ::strnlen(at, size));
  };
  std::string id = text(info.bus_id, sizeof info.bus_id);
  if (!pci_address(id)) id = text(info.bus_id_legacy, sizeof info.bus_id_legacy);
  return pci_address(id).value_or("");
}

void find_links(const Library& library, const std::vector<Device>& handles, FoundMachine& found) {
  const Api& api = library.api();
  found.forget_links();
  std::vector<Lanes> lanes;
  for (const Device device : handles) lanes.push_back(lanes_of(library, device, found));

  const auto can_copy = [&](std::size_t a, std::size_t b) -> std::optional<bool> {
    unsigned status = 0;
    if (!api.DeviceGetP2PStatus ||
        api.DeviceGetP2PStatus(handles[a], handles[b], kP2pByNvlink, &status) != kSuccess)
      return std::nullopt;
    return status == kP2pOk;
  };
  const auto joined = [&](std::size_t a, std::size_t b) -> unsigned {
    if (const unsigned between = std::max(direct(lanes[a], found.gpus[b].bus_id),
                                          direct(lanes[b], found.gpus[a].bus_id));
        between > 0)
      return between;
    const std::optional<bool> copy = can_copy(a, b);
    if (const unsigned count = std::min(lanes[a].to_switches, lanes[b].to_switches); count > 0)
      return copy.value_or(true) ? count : 0;
    return copy.value_or(false) ? std::min(lanes[a].to_others, lanes[b].to_others) : 0;
  };

  for (std::size_t a = 0; a < handles.size(); ++a)
    for (std::size_t b = a + 1; b < handles.size(); ++b) {
      if (!handles[a] || !handles[b]) continue;
      if (const unsigned count = joined(a, b); count > 0) {
        found.set_link(a, b, Link{static_cast<std::uint8_t>(count), Path::sys});
        continue;
      }
      unsigned level = 0;
      if (!api.DeviceGetTopologyCommonAncestor) continue;
      const Return error = api.DeviceGetTopologyCommonAncestor(handles[a], handles[b], &level);
      const std::optional<Path> path = error == kSuccess ? path_of(level) : std::nullopt;
      if (path)
        found.set_link(a, b, Link{0, *path});
      else
        found.notes.push_back(
            "the path between " + pair_text(found.gpus[a], found.gpus[b]) + " is unknown: " +
            (error == kSuccess ? "level " + std::to_string(level) : library.describe(error)));
    }
  if (handles.size() > 1) note_unused_switches(lanes, found);
}

}  // namespace ares::gres::nvml
