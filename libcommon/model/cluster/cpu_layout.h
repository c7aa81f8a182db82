// CpuLayout: which logical CPUs of a machine are hardware threads of one core, and the package
// (socket) and NUMA node of each. Made by os/topology, or read from the text that a node registers.
// An immutable value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"

namespace ares {

inline constexpr std::size_t kMaxCpuLayout = 65536;  // bytes of its text form
inline constexpr std::uint32_t kMaxCpuNumber = 65535;

class CpuLayout {
 public:
  struct Core {
    std::vector<std::uint32_t> cpus;  // its hardware threads, ascending; never empty
    std::uint32_t package = 0;
    std::uint32_t numa = 0;  // the NUMA node of its own memory, as the kernel numbers it
    friend bool operator==(const Core&, const Core&) = default;
  };

  CpuLayout() = default;  // not known
  // Precondition: no CPU is in two cores.
  explicit CpuLayout(std::vector<Core> cores);

  bool empty() const { return cores_.empty(); }
  std::span<const Core> cores() const { return cores_; }  // by their lowest CPUs
  const Core* core_of(std::uint32_t cpu) const;           // null for a CPU that is not here
  std::size_t threads_per_core() const { return threads_per_core_; }  // the most; 0 if empty

  IntervalSet cpus() const;
  IntervalSet numa_nodes() const;  // those of all CPUs
  // The NUMA nodes of these CPUs; CPUs that are not here have none.
  IntervalSet numa_nodes_of(const IntervalSet& cpus) const;
  IntervalSet cpus_near(const IntervalSet& numa_nodes) const;

  friend bool operator==(const CpuLayout& a, const CpuLayout& b) { return a.cores_ == b.cores_; }

 private:
  std::vector<Core> cores_;
  std::vector<std::uint32_t> core_of_;  // by CPU: position in cores_, or kNone
  std::size_t threads_per_core_ = 0;
};

// "0.0:0-15/32-47;1.1:16-31/48-63": PACKAGE.NUMA:FIRST_THREADS/SECOND_THREADS of cores that have
// equally many. The i-th numbers of the lists are one core. "" for an empty layout.
std::string format_cpu_layout(const CpuLayout& layout);
// Error: invalid_argument, also for a CPU that appears twice.
Result<CpuLayout> parse_cpu_layout(std::string_view text);

// "2 sockets, 2 NUMA nodes, 52 cores, 104 CPUs"; empty for an empty layout.
std::string summary(const CpuLayout& layout);

}  // namespace ares
