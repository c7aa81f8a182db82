// The grammars of --hint, --cpu-bind, --mem-bind, --gpu-bind and --distribution: each is read here
// only, by asub, by the controller and by the node. Pure functions; any thread. All errors are
// invalid_argument and list what is possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "model/job/binding.h"

namespace ares {

inline constexpr std::size_t kMaxBindText = 4095;        // bytes of one option
inline constexpr std::uint32_t kMaxThreadsPerCore = 64;  // the largest known number is 8

// "0x3,0xc*2": sets of CPUs, NUMA nodes or GPUs for the tasks of a node in turn.
struct BindList {
  struct Item {
    IntervalSet members;
    std::uint32_t times = 1;
    friend bool operator==(const Item&, const Item&) = default;
  };
  std::vector<Item> items;

  // The set of this task, counted on its node; the list starts again after its end. Precondition:
  // not empty.
  const IntervalSet& of_task(std::uint64_t task) const;
  friend bool operator==(const BindList&, const BindList&) = default;
};

enum class CpuBindKind : std::uint8_t {
  unset,  // only `verbose` or `quiet` was given
  none,
  rank,
  map_cpu,
  mask_cpu,
  rank_ldom,
  map_ldom,
  mask_ldom,
  threads,
  cores,
  sockets,
  ldoms,
};
struct CpuBind {
  CpuBindKind kind = CpuBindKind::unset;
  bool verbose = false;
  BindList list;  // of the kinds map_ and mask_
};

enum class MemBindKind : std::uint8_t { unset, none, local, rank, map_mem, mask_mem };
struct MemBind {
  MemBindKind kind = MemBindKind::unset;
  bool verbose = false;
  bool prefer = false;  // other nodes may be used when these are full
  BindList list;        // of the kinds map_mem and mask_mem
};

enum class GpuBindKind : std::uint8_t { unset, none, closest, map, mask, per_task, single };
struct GpuBind {
  GpuBindKind kind = GpuBindKind::unset;
  bool verbose = false;
  std::uint32_t count = 0;  // of per_task: GPUs for each task; of single: tasks for each GPU
  BindList list;            // of the kinds map and mask
};

// The empty text gives the kind `unset`.
Result<CpuBind> parse_cpu_bind(std::string_view text);
Result<MemBind> parse_mem_bind(std::string_view text);
Result<GpuBind> parse_gpu_bind(std::string_view text);

enum class Hint : std::uint8_t { none, compute_bound, memory_bound, multithread, nomultithread };
Result<Hint> parse_hint(std::string_view text);  // "" = none

struct Distribution {
  std::string nodes, sockets, cores;        // "block"; empty = the default
  std::optional<std::uint32_t> plane_size;  // with `plane`
  std::optional<bool> pack;                 // Pack or NoPack
};
Result<Distribution> parse_distribution(std::string_view text);

// Whether all parts can be read and do not contradict each other. The error names the option.
Status check_binding(const JobBinding& binding);

// Hardware threads of each core that the job uses, by --threads-per-core or --hint; none = all.
std::optional<std::uint32_t> used_threads_per_core(const JobBinding& binding);

}  // namespace ares
