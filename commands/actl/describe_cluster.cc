#include <algorithm>
#include <set>
#include <utility>

#include "actl/describe.h"
#include "actl/lines.h"
#include "base/hostlist.h"
#include "base/printable.h"
#include "base/units.h"
#include "cli/values/gpu_values.h"
#include "cli/values/job_ids.h"
#include "model/job/gpu_part.h"

namespace ares::actl {
namespace {

constexpr std::int64_t kMib = 1 << 20;

std::map<std::string, std::uint64_t> gpu_counts(const api::Node& node) {
  std::map<std::string, std::uint64_t> counts;
  for (const api::Gpu& gpu : node.gpus()) ++counts[gpu.type()];
  return counts;
}

std::string gres_text(const api::Node& node) {
  std::string out;
  for (const auto& [type, count] : gpu_counts(node))
    out += (out.empty() ? "" : ",") + ("gpu:" + type + ":" + std::to_string(count));
  return or_null(out);
}

// The memory of one GPU of each type and size: "a100:80G,h100:81559M"; empty: unknown of all.
std::string gpu_memory_text(const api::Node& node) {
  std::string out;
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (const api::Gpu& gpu : node.gpus())
    if (gpu.memory() > 0 && seen.emplace(gpu.type(), gpu.memory()).second)
      out += (out.empty() ? "" : ",") + gpu.type() + ":" + format_memory(Bytes(gpu.memory()));
  return out;
}

// GPUs in use by type, with their indices: "gpu:a100:1(IDX:3)", or "gpu:a100:1.5(IDX:0,3)" if jobs
// use fractions of GPUs.
std::string gres_used_text(const api::Node& node) {
  std::map<std::string, std::pair<std::uint64_t, std::vector<std::uint32_t>>> used;
  const auto in_use = cli::gpus_in_use(node);
  for (const api::Gpu& gpu : node.gpus()) {
    auto& [sum, indices] = used[gpu.type()];
    const auto found = in_use.find(gpu.index());
    if (found == in_use.end()) continue;
    sum += found->second;
    indices.push_back(gpu.index());
  }
  std::string out;
  for (const auto& [type, of_type] : used) {
    const auto& [sum, indices] = of_type;
    out += (out.empty() ? "" : ",") +
           ("gpu:" + type + ":" + format_thousandths(static_cast<std::int64_t>(sum)));
    out += "(IDX:" + (indices.empty() ? "N/A" : index_text(indices)) + ")";
  }
  return or_null(out);
}

std::string used_tres(const api::Node& node) {
  std::map<std::string, std::uint64_t> gpus;
  const auto in_use = cli::gpus_in_use(node);
  for (const api::Gpu& gpu : node.gpus())
    if (const auto found = in_use.find(gpu.index()); found != in_use.end())
      gpus[gpu.type()] += found->second;
  return tres_text(node.cpus_allocated(), node.memory_allocated(), 0, gpus);
}

// With decimals if the node counts thousandths.
std::string exact_cpus(const api::Node& node, std::uint64_t thousandths, std::uint32_t whole) {
  return node.cpu_thousandths() > 0 ? format_thousandths(static_cast<std::int64_t>(thousandths))
                                    : std::to_string(whole);
}

// As scontrol says it: what the node does, and that it is drained. "DRAINED*" is "IDLE*+DRAIN".
std::string state_text(const api::Node& node) {
  const bool silent = node.state().ends_with('*');
  const std::string state = node.state().substr(0, node.state().size() - (silent ? 1 : 0));
  const char* const busy = node.cpus_allocated() >= node.cpus() ? "ALLOCATED" : "MIXED";
  const std::string star = silent ? "*" : "";
  if (state == "DRAINED") return "IDLE" + star + "+DRAIN";
  if (state == "DRAINING") return busy + star + "+DRAIN";
  return node.state();
}

// In thousandths, as required by the TRES text.
std::map<std::string, std::uint64_t> gpu_amounts(const api::Node& node) {
  auto amounts = gpu_counts(node);
  for (auto& [type, amount] : amounts) amount *= kWholeGpu;
  return amounts;
}

}  // namespace

std::string tres_text(std::uint64_t cpus, std::int64_t memory, std::uint64_t nodes,
                      const std::map<std::string, std::uint64_t>& gpus) {
  std::string out;
  const auto add = [&](const std::string& name, const std::string& amount) {
    out += (out.empty() ? "" : ",") + name + "=" + amount;
  };
  if (cpus > 0) add("cpu", std::to_string(cpus));
  if (memory > 0) add("mem", format_memory(Bytes(memory)));
  if (nodes > 0) add("node", std::to_string(nodes));
  std::uint64_t all = 0;
  for (const auto& [type, count] : gpus) all += count;
  const auto amount = [](std::uint64_t thousandths) {
    return format_thousandths(static_cast<std::int64_t>(thousandths));
  };
  if (all > 0) add("gres/gpu", amount(all));
  for (const auto& [type, count] : gpus)
    if (!type.empty() && count > 0) add("gres/gpu:" + type, amount(count));
  return or_null(out);
}

std::string describe(const api::Node& node, bool one_line) {
  Lines lines;
  lines.add("NodeName", node.name()).add("State", state_text(node)).end_line();
  const std::string all = exact_cpus(node, node.cpu_thousandths(), node.cpus());
  lines.add("CPUAlloc", exact_cpus(node, node.cpu_thousandths_allocated(), node.cpus_allocated()))
      .add("CPUEfctv", all)
      .add("CPUTot", all)
      .add("CPULoad", node.has_cpu_load() ? cli::hundredths_text(node.cpu_load()) : "N/A")
      .end_line();
  const std::string features = or_null(joined(node.features()));
  lines.add("AvailableFeatures", features).add("ActiveFeatures", features).end_line();
  lines.add("Gres", gres_text(node)).add("GresUsed", gres_used_text(node)).end_line();
  if (const std::string memory = gpu_memory_text(node); !memory.empty())
    lines.add("GpuMemory", memory).end_line();
  if (!node.cpu_layout().empty()) lines.add("CpuLayout", node.cpu_layout()).end_line();
  if (!node.gpu_topology().empty()) lines.add("GpuTopology", node.gpu_topology()).end_line();
  if (node.restricted_cores_per_gpu() > 0)
    lines
        .add("RestrictedCoresPerGPU",
             std::to_string(node.restricted_cores_per_gpu()) + "(" + node.restricted_cpus() + ")")
        .end_line();
  if (node.has_max_attempts()) lines.add("MaxJobs", std::to_string(node.max_attempts())).end_line();
  lines.add("NodeAddr", or_null(node.address()))
      .add("NodeHostName", node.name())
      .add("Version", or_null(node.version()))
      .end_line();
  lines.count("RealMemory", node.memory() / kMib)
      .count("AllocMem", node.memory_allocated() / kMib)
      .add("FreeMem", node.has_free_memory() ? std::to_string(node.free_memory() / kMib) : "N/A")
      .end_line();
  if (node.has_tmp_disk())
    lines.count("TmpDisk", node.tmp_disk() / kMib)
        .count("AllocTmpDisk", node.tmp_disk_allocated() / kMib)
        .end_line();
  lines.add("Partitions", or_null(joined(node.partitions()))).end_line();
  std::vector<std::string> jobs;
  for (const api::JobRef& job : node.jobs()) jobs.push_back(cli::format_job_id(cli::key_of(job)));
  lines.add("Jobs", or_null(cli::join(jobs, ","))).end_line();
  lines.add("RegisterTime", time_text(node.registered_at()))
      .add("LastHeard", time_text(node.last_heard()))
      .count("Incarnation", node.incarnation())
      .end_line();
  lines.add("RequeueOnSilence", node.can_freeze() ? "yes" : "no (its jobs cannot be frozen)")
      .end_line();
  lines.add("Enforced", node.enforced().empty() ? "unknown" : printable(node.enforced()))
      .end_line();
  lines.add("CfgTRES", tres_text(node.cpus(), node.memory(), 0, gpu_amounts(node))).end_line();
  lines.add("AllocTRES", used_tres(node)).end_line();
  if (!node.reboot().empty()) lines.add("Reboot", node.reboot());
  if (node.launch_failures() > 0) lines.count("LaunchFailures", node.launch_failures());
  if (node.retry_at() != 0) lines.add("RetryTime", time_text(node.retry_at()));
  if (node.on_trial()) lines.add("OnTrial", "YES");
  if (node.dynamic()) lines.add("Dynamic", "YES");
  if (node.has_kept_for()) lines.add("KeptFor", cli::format_job_id(cli::key_of(node.kept_for())));
  lines.end_line();
  // Without a time the node itself told it.
  const std::string who = !node.reason_user().empty() ? node.reason_user() : node.reason_by();
  const std::string given = who.empty() ? "" : " [" + who + "@" + time_text(node.reason_at()) + "]";
  if (!node.reason().empty()) lines.add("Reason", node.reason() + given).end_line();
  return lines.text(one_line);
}

std::string describe(const api::Partition& partition, const api::Nodes& members, bool one_line) {
  std::uint64_t nodes = 0, cpus = 0;
  std::int64_t memory = 0;
  std::map<std::string, std::uint64_t> gpus;
  for (const api::Node& node : members.nodes()) {
    const auto& in = node.partitions();
    if (std::find(in.begin(), in.end(), partition.name()) == in.end()) continue;
    ++nodes;
    cpus += node.cpus();
    memory += node.memory();
    for (const auto& [type, amount] : gpu_amounts(node)) gpus[type] += amount;
  }
  const std::string state = !partition.state().empty() ? partition.state()
                            : partition.up()           ? "UP"
                                                       : "DOWN";
  Lines lines;
  lines.add("PartitionName", partition.name()).end_line();
  lines.add("Default", partition.is_default() ? "YES" : "NO").add("State", state).end_line();
  lines.add("Nodes", or_null(partition.nodes())).end_line();
  lines.count("TotalCPUs", cpus).count("TotalNodes", nodes).end_line();
  lines.add("MaxTime", limit_text(partition.has_max_time(), partition.max_time()));
  lines
      .add("DefaultTime",
           partition.has_default_time() ? limit_text(true, partition.default_time()) : "NONE")
      .end_line();
  lines
      .add("MaxNodes",
           partition.has_max_nodes() ? std::to_string(partition.max_nodes()) : "UNLIMITED")
      .count("MinNodes", partition.min_nodes())
      .add("MaxCPUsPerNode", partition.has_max_cpus_per_node()
                                 ? std::to_string(partition.max_cpus_per_node())
                                 : "UNLIMITED")
      .end_line();
  lines.count("PriorityTier", partition.tier())
      .count("PriorityJobFactor", partition.priority())
      .add("PreemptMode", or_null(cli::upper(partition.preempt_mode())))
      .add("QoS", partition.qos().empty() ? "N/A" : partition.qos())
      .end_line();
  lines.add("DefMemPerCPU", format_memory(Bytes(partition.default_memory_per_cpu())));
  lines.add("OverSubscribe", partition.exclusive() ? "EXCLUSIVE" : "NO").end_line();
  // Earlier releases of the controller do not send these fields.
  lines.add("PlacementCPU", or_null(partition.cpu_placement()))
      .add("PlacementGPU", or_null(partition.gpu_placement()))
      .add("Topology", or_null(partition.topology()))
      .end_line();
  if (!partition.container_image().empty())
    lines.add("ContainerImage", partition.container_image()).end_line();
  lines.add("TRES", tres_text(cpus, memory, nodes, gpus)).end_line();
  return lines.text(one_line);
}

std::string describe(const api::Reservation& r, bool one_line) {
  std::string flags = r.recurrence();
  const auto flag = [&](bool on, const char* word) {
    if (on) flags += (flags.empty() ? "" : ",") + std::string(word);
  };
  flag(r.maintenance(), "MAINT");
  flag(r.flexible(), "FLEX");
  flag(r.ignore_jobs(), "IGNORE_JOBS");
  flag(r.overlap(), "OVERLAP");
  flag(r.replace_down(), "REPLACE_DOWN");
  Lines lines;
  lines.add("ReservationName", r.name())
      .add("StartTime", time_text(r.start()))
      .add("EndTime", time_text(r.end()))
      .add("Duration", limit_text(true, (r.end() - r.start()) / 1'000'000))
      .end_line();
  lines.add("Nodes", or_null(r.nodes())).count("NodeCnt", r.node_count()).end_line();
  lines.add("Users", or_null(joined(r.users())))
      .add("Accounts", or_null(joined(r.accounts())))
      .add("Flags", or_null(flags))
      .add("State", r.state())
      .end_line();
  if (!r.comment().empty()) lines.add("Comment", r.comment()).end_line();
  return lines.text(one_line);
}

std::string describe(const api::Licenses::License& license, bool one_line) {
  const std::uint32_t free =
      license.used() < license.total() ? license.total() - license.used() : 0;
  Lines lines;
  lines.add("LicenseName", license.name()).end_line();
  lines.count("Total", license.total())
      .count("Used", license.used())
      .count("Free", free)
      .end_line();
  return lines.text(one_line);
}

std::string describe(const api::Plugins::Plugin& plugin, bool one_line) {
  Lines lines;
  lines.add("PluginName", plugin.name())
      .add("State", plugin.set_aside().empty() ? "ON" : "SET_ASIDE")
      .add("Stages", or_null(plugin.stages()))
      .end_line();
  lines.add("Path", plugin.path()).end_line();
  lines.add("Partitions", plugin.partitions().empty() ? "ALL" : joined(plugin.partitions()))
      .add("Options", or_null(joined(plugin.options())))
      .end_line();
  if (!plugin.set_aside().empty())
    lines.add("Cause", plugin.set_aside())
        .add("SetAsideTime", time_text(plugin.set_aside_at()))
        .end_line();
  return lines.text(one_line);
}

}  // namespace ares::actl
