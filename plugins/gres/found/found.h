// What discovery finds on a machine: its GPUs, the links between them, and why something is not
// known. Every source of discovery returns this. Plain data; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/units.h"
#include "core/topology/link.h"

namespace ares::gres {

// What uses a GPU, or an instance, now.
struct Use {
  Bytes memory{};                          // 0 = none, or unknown
  std::vector<std::uint32_t> processes{};  // their ids
  friend bool operator==(const Use&, const Use&) = default;
};

// A part of a GPU that the hardware separates from the others: an instance of NVIDIA's MIG.
struct FoundInstance {
  std::string uuid{};   // "MIG-..."
  std::string profile;  // "3g.20gb"
  Bytes memory{};
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
  std::vector<std::string> devices{};  // files that only jobs of this instance need
  Use use{};
  friend bool operator==(const FoundInstance&, const FoundInstance&) = default;
};

struct FoundGpu {
  std::uint16_t index = 0;  // as the driver's libraries count
  std::string uuid{};       // empty = unknown, as for all texts here
  std::string type{};       // one word: "a100"; never empty
  std::string name{};       // "NVIDIA A100-SXM4-80GB"
  Bytes memory{};           // 0 = unknown
  std::string bus_id{};     // address on the PCI bus: "0000:07:00.0"
  // Of NVIDIA's driver, for /dev/nvidia3; not the index.
  std::optional<std::uint32_t> minor{};
  std::vector<std::string> devices{};  // files that a job needs to use it
  IntervalSet cpus{};                  // nearest CPUs; empty = unknown, as for NUMA nodes
  IntervalSet numa{};
  IntervalSet own_numa{};            // of its own memory, on machines that address it as such
  std::string problem{};             // why no job may get it; empty = it works
  std::vector<std::string> notes{};  // conditions that an administrator should know
  bool partitioned = false;          // in MIG mode: jobs can use only its instances
  std::vector<FoundInstance> instances{};
  Use use{};
  friend bool operator==(const FoundGpu&, const FoundGpu&) = default;
};

struct FoundMachine {
  std::string source;               // "nvml", "amd", "pci", "file", "none"
  std::string driver;               // its version
  std::vector<FoundGpu> gpus{};     // ascending index
  std::vector<std::string> nics{};  // names of network adapters, if the source tells of them
  // Between devices, GPUs in the order of `gpus` and then NICs, row by row; symmetric. None = the
  // device itself, or unknown. Empty = all unknown.
  std::vector<std::optional<core::topology::Link>> links{};
  std::vector<std::string> notes{};  // what could not be found out, and why

  std::size_t devices() const { return gpus.size() + nics.size(); }
  std::optional<core::topology::Link> link(std::size_t a, std::size_t b) const {
    return links.empty() ? std::nullopt : links[a * devices() + b];
  }
  // Both directions. Precondition: `links` has its size, as after forget_links().
  void set_link(std::size_t a, std::size_t b, std::optional<core::topology::Link> link) {
    links[a * devices() + b] = links[b * devices() + a] = link;
  }
  void forget_links() { links.assign(devices() * devices(), std::nullopt); }
  friend bool operator==(const FoundMachine&, const FoundMachine&) = default;
};

// The word by which jobs ask for a GPU of this name: "a100" for "NVIDIA A100-SXM4-80GB", "rtx4090"
// for "NVIDIA GeForce RTX 4090". Lower-case letters and digits; "gpu" if nothing is left.
std::string type_word(std::string_view name);

// Whether jobs can ask for a GPU by this word: at most 64 of letters, digits, '.', '_', '+', '-'.
bool is_type_word(std::string_view text);

// An address on the PCI bus as the kernel writes it, "0000:07:00.0", from that or from the forms of
// drivers ("00000000:07:00.0", upper case). None: it is not an address.
std::optional<std::string> pci_address(std::string_view text);

}  // namespace ares::gres
