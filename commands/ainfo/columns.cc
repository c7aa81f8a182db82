#include <algorithm>
#include <map>

#include "ainfo/load_columns.h"
#include "ainfo/rows.h"
#include "base/duration.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "base/units.h"
#include "cli/output/text.h"
#include "cli/values/gpu_values.h"
#include "model/job/gpu_part.h"

namespace ares::ainfo {
namespace {

using N = api::Node;
using R = const Row&;
using Out = std::string&;
using Needs = std::array<std::uint32_t, 6>;

constexpr std::uint32_t kName = N::kNameFieldNumber, kState = N::kStateFieldNumber;
constexpr std::uint32_t kPlanned = N::kPlannedFieldNumber, kPartitions = N::kPartitionsFieldNumber;

const N* first(R row) {
  return row.nodes.empty() ? nullptr : row.nodes.front();
}

// The text of the line's first node; the others have the same text.
template <class Text>
void of_node(R row, Out out, Text&& text) {
  if (const N* node = first(row))
    text(*node);
  else
    out += "n/a";
}

// Without a partition, prints those of the node.
void put_partition(R row, bool mark, Out out) {
  if (row.partition) {
    out += row.partition->name();
    if (mark && row.partition->is_default()) out += '*';
    return;
  }
  of_node(row, out, [&](const N& node) {
    out += cli::join({node.partitions().begin(), node.partitions().end()}, ",");
  });
}

void put_limit(bool has, std::int64_t seconds, Out out) {
  out += has ? format_duration_short(Seconds(seconds)) : "infinite";
}

// The minimum over the line's nodes, with a + if others have more.
template <class Number>
void put_least(R row, Number number, Out out) {
  if (row.nodes.empty()) {
    out += "n/a";
    return;
  }
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (const N* node : row.nodes) {
    least = std::min<std::int64_t>(least, number(*node));
    most = std::max<std::int64_t>(most, number(*node));
  }
  out += std::to_string(least);
  if (most > least) out += '+';
}

bool usable(const N& node) {
  const std::string state = plain_state(node.state());
  return state == "IDLE" || state == "MIXED" || state == "ALLOCATED" || state == "COMPLETING";
}

void put_cpu_counts(R row, Out out) {
  std::uint64_t allocated = 0, idle = 0, other = 0, total = 0;
  for (const N* node : row.nodes) {
    const std::uint64_t free = node->cpus() - std::min(node->cpus(), node->cpus_allocated());
    allocated += node->cpus_allocated();
    (usable(*node) ? idle : other) += free;
    total += node->cpus();
  }
  for (const std::uint64_t count : {allocated, idle, other}) out += std::to_string(count) + "/";
  out += std::to_string(total);
}

void put_node_counts(R row, bool all, Out out) {
  std::size_t allocated = 0, idle = 0, other = 0;
  for (const N* node : row.nodes) {
    const std::string state = plain_state(node->state());
    if (state == "ALLOCATED" || state == "MIXED" || state == "DRAINING" || state == "COMPLETING")
      ++allocated;
    else if (state == "IDLE" && !is_silent(*node))
      ++idle;
    else
      ++other;
  }
  out += std::to_string(allocated) + "/" + std::to_string(idle);
  if (all) out += "/" + std::to_string(other) + "/" + std::to_string(row.nodes.size());
}

// GPUs by type; `amount` of each, in thousandths.
template <class Amount>
void put_gpus(const N& node, Amount amount, Out out) {
  std::map<std::string, std::int64_t> counts;
  for (const api::Gpu& gpu : node.gpus()) counts[gpu.type()] += amount(gpu);
  if (counts.empty()) out += "(null)";
  bool begun = false;
  for (const auto& [type, count] : counts) {
    out += begun ? ",gpu:" : "gpu:";
    begun = true;
    if (type != "gpu") out += type + ":";
    out += format_thousandths(count);
  }
}

void put_used_gpus(const N& node, Out out) {
  const auto used = cli::gpus_in_use(node);
  put_gpus(
      node,
      [&](const api::Gpu& gpu) {
        const auto found = used.find(gpu.index());
        return found == used.end() ? 0 : static_cast<std::int64_t>(found->second);
      },
      out);
}

void put_names(R row, Out out) {
  std::vector<std::string> all;
  for (const N* node : row.nodes) all.push_back(node->name());
  out += compress_hostlist(all);
}

void put_features(R row, Out out) {
  of_node(row, out, [&](const N& n) {
    out += n.features().empty() ? "(null)"
                                : cli::join({n.features().begin(), n.features().end()}, ",");
  });
}

const std::string& blamed(const N& node) {
  return node.reason_user().empty() ? node.reason_by() : node.reason_user();
}

void put_size(const api::Partition& p, Out out) {
  out += std::to_string(std::max(p.min_nodes(), 1u)) + "-" +
         (p.has_max_nodes() ? std::to_string(p.max_nodes()) : "infinite");
}

// A text of the partition, or n/a if lines have no partition.
template <class Text>
void of_partition(R row, Out out, Text&& text) {
  if (row.partition)
    text(*row.partition);
  else
    out += "n/a";
}

std::string number_or_none(std::uint32_t number) {
  return number ? std::to_string(number) : "n/a";
}

std::vector<cli::Column<Row>> partition_columns() {
  std::vector<cli::Column<Row>> columns = {
      {'P',
       "Partition",
       "PARTITION",
       "the partition; * marks the default",
       [](R r, Out o) { put_partition(r, true, o); },
       {kPartitions},
       nullptr,
       true},
      {'R',
       "PartitionName",
       "PARTITION",
       "the partition",
       [](R r, Out o) { put_partition(r, false, o); },
       {kPartitions},
       nullptr,
       true},
      {'a', "Available", "AVAIL", "whether the partition is up",
       [](R r, Out o) { of_partition(r, o, [&](auto& p) { o += p.up() ? "up" : "down"; }); }},
      {'l', "Time", "TIMELIMIT", "the partition's longest time limit",
       [](R r, Out o) {
         of_partition(r, o, [&](auto& p) { put_limit(p.has_max_time(), p.max_time(), o); });
       }},
      {'L', "DefaultTime", "DEFAULTTIME", "its default time limit",
       [](R r, Out o) {
         of_partition(r, o, [&](auto& p) {
           if (p.has_default_time())
             put_limit(true, p.default_time(), o);
           else
             o += "n/a";
         });
       }},
      {'p', "PriorityTier", "PRIO_TIER", "its tier",
       [](R r, Out o) { of_partition(r, o, [&](auto& p) { o += std::to_string(p.tier()); }); }},
      {'M', "PreemptMode", "PREEMPT_MODE", "what becomes of its jobs where others need their place",
       [](R r, Out o) { of_partition(r, o, [&](auto& p) { o += cli::upper(p.preempt_mode()); }); }},
      {'I', "PriorityJobFactor", "PRIO_JOB_FACTOR", "the priority of its jobs",
       [](R r, Out o) { of_partition(r, o, [&](auto& p) { o += std::to_string(p.priority()); }); }},
      {'s', "Size", "JOB_SIZE", "how many nodes a job may have",
       [](R r, Out o) { of_partition(r, o, [&](auto& p) { put_size(p, o); }); }},
      {'B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE",
       "how many CPUs of a node all of its jobs together may have",
       [](R r, Out o) {
         of_partition(r, o, [&](auto& p) {
           o += p.has_max_cpus_per_node() ? std::to_string(p.max_cpus_per_node()) : "UNLIMITED";
         });
       }},
      {'h', "OverSubscribe", "OVERSUBSCRIBE", "EXCLUSIVE: jobs get whole nodes",
       [](R r, Out o) {
         of_partition(r, o, [&](auto& p) { o += p.exclusive() ? "EXCLUSIVE" : "NO"; });
       }},
      {'g', "Groups", "GROUPS", "whose members may use it",
       [](R r, Out o) {
         of_partition(r, o, [&](auto& p) {
           o += p.allow_groups().empty()
                    ? "all"
                    : cli::join({p.allow_groups().begin(), p.allow_groups().end()}, ",");
         });
       }},
  };
  for (auto& column : columns) column.fold = kOfPartition;
  columns.push_back({'V', "Cluster", "CLUSTER", "the cluster",
                     [](R r, Out o) { o += r.cluster ? *r.cluster : ""; }});
  return columns;
}

std::vector<cli::Column<Row>> count_columns() {
  const auto sums = [](char letter, const char* name, const char* header, const char* help,
                       void (*put)(R, Out), Needs needs, std::int64_t (*number)(R) = nullptr,
                       bool never_cut = false) {
    cli::Column<Row> column{letter, name, header, help, put, needs, number, never_cut};
    column.fold = kSums;
    return column;
  };
  constexpr std::uint32_t kCpus = N::kCpusFieldNumber, kUsed = N::kCpusAllocatedFieldNumber;
  return {
      sums(
          'D', "Nodes", "NODES", "how many nodes",
          [](R r, Out o) { o += std::to_string(r.nodes.size()); }, Needs{},
          [](R r) { return static_cast<std::int64_t>(r.nodes.size()); }),
      sums('N', "NodeList", "NODELIST", "their names", put_names, Needs{kName}, nullptr, true),
      sums(
          'A', "NodeAI", "NODES(A/I)", "nodes allocated and idle",
          [](R r, Out o) { put_node_counts(r, false, o); }, Needs{kState}),
      sums(
          'F', "NodeAIOT", "NODES(A/I/O/T)", "nodes allocated, idle, other and in total",
          [](R r, Out o) { put_node_counts(r, true, o); }, Needs{kState}),
      sums('C', "CPUsState", "CPUS(A/I/O/T)", "CPUs allocated, idle, other and in total",
           put_cpu_counts, Needs{kState, kCpus, kUsed}),
  };
}

std::vector<cli::Column<Row>> size_columns() {
  const auto least = [](char letter, const char* name, const char* header, const char* help,
                        void (*put)(R, Out), std::uint32_t need) {
    cli::Column<Row> column{letter, name, header, help, put, Needs{need}};
    column.fold = kLeast;
    return column;
  };
  return {
      least(
          'c', "CPUs", "CPUS", "CPUs of each node",
          [](R r, Out o) {
            put_least(
                r, [](const N& n) { return n.cpus(); }, o);
          },
          N::kCpusFieldNumber),
      least(
          'm', "Memory", "MEMORY", "memory of each node in MiB",
          [](R r, Out o) {
            put_least(
                r, [](const N& n) { return n.memory() >> 20; }, o);
          },
          N::kMemoryFieldNumber),
      least(
          0, "AllocMem", "ALLOCMEM", "memory of each node that jobs have, in MiB",
          [](R r, Out o) {
            put_least(
                r, [](const N& n) { return n.memory_allocated() >> 20; }, o);
          },
          N::kMemoryAllocatedFieldNumber),
      least(
          'd', "Disk", "TMP_DISK", "temporary storage of each node in MiB; 0 if it is not known",
          [](R r, Out o) {
            put_least(
                r, [](const N& n) { return n.tmp_disk() >> 20; }, o);
          },
          N::kTmpDiskFieldNumber),
  };
}

std::vector<cli::Column<Row>> node_columns() {
  std::vector<cli::Column<Row>> all = {
      {'t',
       "StateCompact",
       "STATE",
       "their state, in short: * marks nodes that do not answer, @ and ^ those that are to reboot, "
       "- "
       "those promised to a job that waits",
       [](R r, Out o) { of_node(r, o, [&](const N& n) { o += short_state(n); }); },
       {kState, kPlanned, N::kRebootFieldNumber},
       [](R r) { return state_order(r); }},
      {'T',
       "StateLong",
       "STATE",
       "their state",
       [](R r, Out o) { of_node(r, o, [&](const N& n) { o += long_state(n); }); },
       {kState, kPlanned, N::kRebootFieldNumber},
       [](R r) { return state_order(r); }},
      {'n',
       "NodeHost",
       "HOSTNAMES",
       "the node's name, a line for each",
       [](R r, Out o) { of_node(r, o, [&](const N& n) { o += n.name(); }); },
       {kName},
       nullptr,
       true},
      {'o',
       "NodeAddr",
       "NODE_ADDR",
       "the node's address, a line for each",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += n.address().empty() ? n.name() : n.address(); });
       },
       {kName, N::kAddressFieldNumber}},
      {'G',
       "Gres",
       "GRES",
       "GPUs of each node",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) {
           put_gpus(
               n, [](const api::Gpu&) { return std::int64_t{kWholeGpu}; }, o);
         });
       },
       {N::kGpusFieldNumber}},
      {0,
       "GresUsed",
       "GRES_USED",
       "GPUs of each node that jobs have",
       [](R r, Out o) { of_node(r, o, [&](const N& n) { put_used_gpus(n, o); }); },
       {N::kGpusFieldNumber, N::kGpusAllocatedFieldNumber, N::kGpuPartsAllocatedFieldNumber}},
      {'f',
       "Features",
       "AVAIL_FEATURES",
       "features of each node",
       put_features,
       {N::kFeaturesFieldNumber}},
      {'b',
       "features_act",
       "ACTIVE_FEATURES",
       "likewise: all are active",
       put_features,
       {N::kFeaturesFieldNumber}},
      {'X',
       "Sockets",
       "SOCKETS",
       "sockets of each node; n/a where it has not told",
       [](R r, Out o) { of_node(r, o, [&](const N& n) { o += number_or_none(n.sockets()); }); },
       {N::kSocketsFieldNumber}},
      {'Y',
       "Cores",
       "CORES",
       "cores of each socket",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += number_or_none(n.cores_per_socket()); });
       },
       {N::kCoresPerSocketFieldNumber}},
      {'Z',
       "Threads",
       "THREADS",
       "threads of each core",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += number_or_none(n.threads_per_core()); });
       },
       {N::kThreadsPerCoreFieldNumber}},
      {'z',
       "SocketCoreThread",
       "S:C:T",
       "the three",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) {
           o += n.sockets() == 0
                    ? "n/a"
                    : std::to_string(n.sockets()) + ":" + std::to_string(n.cores_per_socket()) +
                          ":" + std::to_string(n.threads_per_core());
         });
       },
       {N::kSocketsFieldNumber, N::kCoresPerSocketFieldNumber, N::kThreadsPerCoreFieldNumber}},
      {'i',
       "Reservation",
       "RESERVATION",
       "the active reservations that the node is in",
       [](R r, Out o) {
         const N* node = first(r);
         if (!node || !r.reserved) return;
         const auto found = r.reserved->find(node->name());
         if (found != r.reserved->end()) o += found->second;
       },
       {kName}},
      {'E',
       "Reason",
       "REASON",
       "why the node is out of service",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += n.reason().empty() ? "none" : n.reason(); });
       },
       {N::kReasonFieldNumber},
       nullptr,
       false,
       1},
      {'u',
       "User",
       "USER",
       "who said so",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += blamed(n).empty() ? "Unknown" : blamed(n); });
       },
       {N::kReasonByFieldNumber, N::kReasonUserFieldNumber}},
      {'U',
       "UserLong",
       "USER",
       "likewise, with the user's number",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) {
           o += blamed(n).empty() ? "Unknown" : blamed(n) + "(" + n.reason_by() + ")";
         });
       },
       {N::kReasonByFieldNumber, N::kReasonUserFieldNumber}},
      {'H',
       "TimeStamp",
       "TIMESTAMP",
       "when",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) {
           o += n.reason_at() ? format_local_time(Time(Duration(n.reason_at()))) : "Unknown";
         });
       },
       {N::kReasonAtFieldNumber}},
      {'v',
       "Version",
       "VERSION",
       "release of its daemon",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) { o += n.version().empty() ? "n/a" : n.version(); });
       },
       {N::kVersionFieldNumber}},
      {'y',
       "Enforced",
       "ENFORCED",
       "what its kernel holds jobs to: cpus (or cpu-time), memory, processes, devices, or none",
       [](R r, Out o) {
         of_node(r, o, [&](const N& n) {
           o += n.enforced().empty() ? std::string("n/a") : printable(n.enforced());
         });
       },
       {N::kEnforcedFieldNumber}},
  };
  for (auto& column : all) column.is_state = column.header == "STATE";
  return all;
}

// Columns of Slurm that have no value here, and why.
std::vector<cli::Unsupported> refused() {
  const char* const kNone = "Ares has nothing of the kind";
  const char* const kAnywhere = "jobs are submitted from any machine, by any user";
  return {
      {'w', "Weight", true, kNone},         {0, "ActiveTRES", true, kNone},
      {0, "Comment", true, kNone},          {0, "Extra", true, kNone},
      {'r', "Root", true, kAnywhere},       {'S', "AllocNodes", true, kAnywhere},
      {0, "Port", true, "NodeAddr has it"}, {0, "StateComplete", true, "StateLong has all of it"}};
}

}  // namespace

const cli::Columns<Row>& columns() {
  static const cli::Columns<Row> all = cli::make_columns<Row>(
      {partition_columns, count_columns, size_columns, load_columns, node_columns}, refused(), {});
  return all;
}

}  // namespace ares::ainfo
