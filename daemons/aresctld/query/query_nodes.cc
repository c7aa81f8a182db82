#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "aresctld/query/queries.h"
#include "aresctld/query/row_page.h"
#include "base/hostlist.h"
#include "core/topology/parsed_topology.h"
#include "core/topology/restricted_cpus.h"
#include "model/cluster/cpu_layout.h"
#include "model/job/gpu_part.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}

// Sockets, cores and threads of a node; the most, where they differ.
struct ShownLayout {
  std::string text;
  std::uint32_t sockets = 0, cores_per_socket = 0, threads_per_core = 0;
};

struct Charged {
  std::uint32_t cpus = 0;             // whole ones
  std::uint64_t cpu_thousandths = 0;  // exactly
  std::int64_t memory = 0, tmp_disk = 0;
};

Charged charged(const Node& node) {
  Charged sum;
  for (const Charge& charge : node.charges) {
    sum.cpus += charge.cpus;
    sum.cpu_thousandths += cpu_thousandths_of(charge);
    sum.memory += charge.memory.value();
    sum.tmp_disk += charge.tmp_disk.value();
  }
  if (node.inventory.cpu_thousandths == 0) return sum;
  // Jobs that share a CPU are not counted as one each, and what it has besides whole CPUs is in use as they are.
  sum.cpus = static_cast<std::uint32_t>(whole_cpus(sum.cpu_thousandths));
  if (sum.cpu_thousandths <= node.inventory.cpu_thousandths)
    sum.cpus = std::min(sum.cpus, node.inventory.cpus);
  return sum;
}

// False after three missed heartbeats (shown with a star). Each controller decides by itself,
// without an event.
bool answers(const Node& node, const NodeHub& hub, const Policy& policy, Time now) {
  if (node.contact != Contact::registered) return false;
  const auto heard = hub.last_heard(node.name);
  return heard && now - *heard < 3 * policy.heartbeat;
}

// Whether all jobs with charges on the node are completing.
bool is_completing(const ClusterState& state, const Node& node) {
  return std::all_of(node.charges.begin(), node.charges.end(), [&](const Charge& charge) {
    const Job* job = state.jobs.find(charge.attempt.job);
    return !job || job->state == JobState::completing || is_terminal(job->state);
  });
}

// State of an idle node, considering active reservations.
std::string_view reserved_state(const ClusterState& state, const Node& node, Time now) {
  std::string_view text = "IDLE";
  state.reservations.for_each([&](const std::string&, const Reservation& r) {
    if (!is_active(r, now) || !has_node(r, node.name)) return;
    if (r.maintenance || text == "IDLE") text = r.maintenance ? "MAINT" : "RESERVED";
  });
  return text;
}

std::string_view state_of(const ClusterState& state, const Node& node, const Charged& used,
                          Time now) {
  if (node.admin == AdminState::down || node.contact == Contact::lost) return "DOWN";
  if (node.admin == AdminState::fail) return node.charges.empty() ? "FAIL" : "FAILING";
  if (node.admin == AdminState::drain) return node.charges.empty() ? "DRAINED" : "DRAINING";
  if (node.contact == Contact::never) return "UNKNOWN";
  if (node.reboot && node.reboot->issued_at) return "REBOOT_ISSUED";
  if (node.charges.empty()) return reserved_state(state, node, now);
  if (is_completing(state, node)) return "COMPLETING";
  const bool all = node.inventory.cpu_thousandths > 0
                       ? used.cpu_thousandths >= node.inventory.cpu_thousandths
                       : used.cpus >= node.inventory.cpus;
  return all ? "ALLOCATED" : "MIXED";
}

// Builds the rows of a node listing; keeps look-ups that all rows share.
class NodeQuery {
 public:
  NodeQuery(const View& view, const NodeHub& hub, const Policy& policy, Identity& identity,
            const api::ListNodes& request, Time now)
      : view_(view),
        hub_(hub),
        policy_(policy),
        identity_(identity),
        request_(request),
        now_(now),
        states_(request.states().begin(), request.states().end()) {}

  // not_found: a node or partition that does not exist.
  Status prepare() {
    if (shows(api::Node::kPlannedFieldNumber)) note_promises();
    if (!request_.nodes().empty()) {
      const auto names = expand_hostlist(request_.nodes());
      if (!names) return fail(names.error());
      for (const auto& name : *names) {
        const NodeId* id = view_.state->node_ids.find(name);
        if (!id) return fail(ErrorCode::not_found, "Invalid node name specified: " + name);
        wanted_.insert(*id);
      }
    }
    note_partitions();
    return {};
  }

  bool shows(int field) const {
    const auto& fields = request_.fields();
    return fields.empty() || std::find(fields.begin(), fields.end(),
                                       static_cast<std::uint32_t>(field)) != fields.end();
  }

  // False: the node was not requested.
  bool describe(const Node& node, api::Node& out) {
    static const std::vector<const std::string*> kNone;
    if (!wanted_.empty() && !wanted_.contains(node.id)) return false;
    const auto found = partitions_of_.find(node.id);
    const auto& in = found == partitions_of_.end() ? kNone : found->second;
    if (!request_.partitions().empty() && in.empty()) return false;
    const Charged used = charged(node);
    const std::string_view state = state_of(*view_.state, node, used, now_);
    if (!states_.empty() && !states_.contains(state)) return false;
    out.Clear();
    out.set_name(node.name);
    *out.mutable_state() = state;
    // A node set to down by an administrator need not respond. One whose machine is gone has an agent that does.
    const bool answering = answers(node, hub_, policy_, now_);
    if (node.admin != AdminState::down && !node.machine_gone && !answering)
      *out.mutable_state() += '*';
    for (const std::string* partition : in) out.add_partitions(*partition);
    describe_reason(node, out);
    describe_resources(node, used, out);
    describe_daemon(node, out);
    if (answering) describe_load(node, out);
    out.set_planned(promised_.contains(node.id));
    return true;
  }

 private:
  void note_partitions() {
    const std::set<std::string> only(request_.partitions().begin(), request_.partitions().end());
    if (only.empty() && !shows(api::Node::kPartitionsFieldNumber)) return;
    view_.state->partitions.for_each([&](const std::string& name, const Partition& partition) {
      if (!only.empty() && !only.contains(name)) return;
      for (const auto& node : partition.nodes)
        if (const NodeId* id = view_.state->node_ids.find(node))
          partitions_of_[*id].push_back(&partition.name);
    });
  }

  // Collects the expected nodes of jobs that wait for resources.
  void note_promises() {
    view_.pending->for_each([&](const JobKey&, const PendingInfo& info) {
      if (info.reason == Reason::resources)
        promised_.insert(info.expected_nodes.begin(), info.expected_nodes.end());
    });
  }

  // The reason of an operator or of the controller, and what the node wants operators to do.
  void describe_reason(const Node& node, api::Node& out) {
    out.set_reason(node.reason);
    if (node.contact == Contact::lost && node.admin == AdminState::up) {
      out.set_reason(node.machine_gone ? "its machine is gone" : "does not answer");
      if (node.silent_since) out.set_reason_at(micros(*node.silent_since));
    }
    if (shows(api::Node::kReasonFieldNumber))
      for (const std::string& remark : hub_.remarks(node.name))
        *out.mutable_reason() += (out.reason().empty() ? "" : "; ") + remark;
    if (node.reason_at) out.set_reason_at(micros(*node.reason_at));
    if (!node.reason_by) {
      if (out.reason_at() != 0) out.set_reason_user("controller");
      return;
    }
    out.set_reason_by(std::to_string(node.reason_by->value()));
    if (shows(api::Node::kReasonUserFieldNumber))
      out.set_reason_user(identity_.name_of(*node.reason_by));
  }

  void describe_resources(const Node& node, const Charged& used, api::Node& out) {
    const Inventory& has = node.contact == Contact::never ? node.configured : node.inventory;
    out.set_cpus(has.cpus);
    out.set_cpus_allocated(used.cpus);
    out.set_memory(has.memory.value());
    out.set_memory_allocated(used.memory);
    for (const auto& feature : has.features) out.add_features(feature);
    if (shows(api::Node::kGpusFieldNumber))
      for (const Gpu& gpu : has.gpus) {
        api::Gpu* entry = out.add_gpus();
        entry->set_index(gpu.index.value());
        entry->set_type(gpu.type);
        entry->set_memory(gpu.memory.value());
      }
    if (shows(api::Node::kGpuTopologyFieldNumber) && !has.gpu_topology.empty())
      out.set_gpu_topology(topology_of(has.gpu_topology));
    if (!has.cpu_layout.empty()) describe_layout(has.cpu_layout, out);
    out.set_restricted_cores_per_gpu(has.restricted_cores_per_gpu);
    if (has.cpu_thousandths > 0) {
      out.set_cpu_thousandths(has.cpu_thousandths);
      out.set_cpu_thousandths_allocated(used.cpu_thousandths);
    }
    if (has.max_attempts) out.set_max_attempts(*has.max_attempts);
    if (has.tmp_disk) out.set_tmp_disk(has.tmp_disk->value());
    out.set_tmp_disk_allocated(used.tmp_disk);
    if (shows(api::Node::kRestrictedCpusFieldNumber))
      if (const auto kept = core::topology::restricted_cpus(has, machines_, cpu_layouts_))
        out.set_restricted_cpus(format_bitset(kept->all));
    for (const Charge& charge : node.charges) {
      for (const GpuIndex index : charge.gpus) {
        out.add_gpus_allocated(index.value());
        out.add_gpu_parts_allocated(held_of_each(charge.gpu_part));
      }
      if (shows(api::Node::kJobsFieldNumber)) proto::to_api(charge.attempt.job, out.add_jobs());
    }
  }

  // Cached, because most nodes have the same topology.
  const std::string& topology_of(const GpuTopology& told) {
    const auto [found, added] = topologies_.try_emplace(std::string(told.text()));
    if (added) found->second = core::topology::summary(told);
    return found->second;
  }

  void describe_layout(const SharedText& told, api::Node& out) {
    if (!shows(api::Node::kCpuLayoutFieldNumber) && !shows(api::Node::kSocketsFieldNumber) &&
        !shows(api::Node::kCoresPerSocketFieldNumber) &&
        !shows(api::Node::kThreadsPerCoreFieldNumber))
      return;
    const ShownLayout& layout = layout_of(told);
    out.set_cpu_layout(layout.text);
    out.set_sockets(layout.sockets);
    out.set_cores_per_socket(layout.cores_per_socket);
    out.set_threads_per_core(layout.threads_per_core);
  }

  const ShownLayout& layout_of(const SharedText& told) {
    const auto [found, added] = layouts_.try_emplace(std::string(told.text()));
    ShownLayout& shown = found->second;
    if (!added) return shown;
    const CpuLayout layout = parse_cpu_layout(told.text()).value_or(CpuLayout());
    shown.text = summary(layout);
    const IntervalSet cpus = layout.cpus();
    // Some are set aside for the system.
    if (!cpus.empty() && cpus.count() <= cpus.back())
      shown.text += " (" + format_interval_set(cpus) + ")";
    std::map<std::uint32_t, std::uint32_t> cores;  // of each socket
    for (const CpuLayout::Core& core : layout.cores()) ++cores[core.package];
    shown.sockets = static_cast<std::uint32_t>(cores.size());
    for (const auto& [socket, count] : cores)
      shown.cores_per_socket = std::max(shown.cores_per_socket, count);
    shown.threads_per_core = static_cast<std::uint32_t>(layout.threads_per_core());
    return shown;
  }

  void describe_daemon(const Node& node, api::Node& out) const {
    if (node.registered_at) out.set_registered_at(micros(*node.registered_at));
    if (shows(api::Node::kLastHeardFieldNumber))
      if (const auto heard = hub_.last_heard(node.name)) out.set_last_heard(micros(*heard));
    out.set_incarnation(node.incarnation);
    out.set_version(node.version_text);
    out.set_address(node.address);
    out.set_can_freeze(node.can_freeze);
    out.set_enforced(node.enforced);
    if (node.reboot)
      out.set_reboot(node.reboot->issued_at ? "ISSUED" : node.reboot->asap ? "ASAP" : "REQUESTED");
    if (node.guard.retry_at) out.set_retry_at(micros(*node.guard.retry_at));
    out.set_launch_failures(static_cast<std::uint32_t>(node.guard.failures.size()));
    out.set_on_trial(node.guard.on_trial);
    out.set_dynamic(!node.joined.empty());
    if (const JobKey* job = view_.state->kept_nodes.find(node.id))
      proto::to_api(*job, out.mutable_kept_for());
  }

  void describe_load(const Node& node, api::Node& out) const {
    if (!shows(api::Node::kCpuLoadFieldNumber) && !shows(api::Node::kFreeMemoryFieldNumber)) return;
    const MachineLoad load = hub_.load(node.name);
    if (load.cpu_load) out.set_cpu_load(*load.cpu_load);
    if (load.free_memory) out.set_free_memory(load.free_memory->value());
  }

  const View& view_;
  const NodeHub& hub_;
  const Policy& policy_;
  Identity& identity_;
  const api::ListNodes& request_;
  const Time now_;
  std::set<NodeId> wanted_;  // empty = all
  const std::set<std::string, std::less<>> states_;
  std::unordered_map<NodeId, std::vector<const std::string*>> partitions_of_;
  std::set<NodeId> promised_;
  core::topology::Machines machines_;
  core::topology::CpuLayouts cpu_layouts_;
  std::unordered_map<std::string, std::string> topologies_;  // summaries, keyed by the nodes' text
  std::unordered_map<std::string, ShownLayout> layouts_;     // likewise
};

}  // namespace

Result<api::Nodes> list_nodes(const View& view, const NodeHub& hub, const Policy& policy,
                              Identity& identity, const api::ListNodes& request, Time now) {
  NodeQuery query(view, hub, policy, identity, request, now);
  if (Status ready = query.prepare(); !ready) return fail(ready.error());
  api::Nodes out;
  out.set_now(micros(now));
  out.set_cluster(policy.cluster_name);
  RowPage<api::Node> page(
      std::span(request.fields().data(), static_cast<std::size_t>(request.fields_size())),
      request.page());
  api::Node row;
  view.state->nodes.for_each_from(NodeId(request.after() + 1), [&](NodeId id, const Node& node) {
    if (!query.describe(node, row)) return true;
    page.add(row);
    if (page.full()) out.set_next(id.value());
    return !page.full();
  });
  page.move_to(out, *out.mutable_nodes());
  return out;
}

Result<api::Partitions> list_partitions(const View& view, const api::ListPartitions& filter) {
  const std::set<std::string> wanted(filter.names().begin(), filter.names().end());
  for (const auto& name : wanted)
    if (!view.state->partitions.find(name))
      return fail(ErrorCode::not_found, "Invalid partition name specified: " + name);
  api::Partitions out;
  view.state->partitions.for_each([&](const std::string& name, const Partition& partition) {
    if (!wanted.empty() && !wanted.contains(name)) return;
    api::Partition* row = out.add_partitions();
    row->set_name(name);
    row->set_is_default(partition.is_default);
    row->set_up(partition.up);
    row->set_open(partition.open);
    row->set_state(std::string(state_text(partition)));
    if (!filter.brief()) row->set_nodes(compress_hostlist(partition.nodes));
    if (partition.max_time) row->set_max_time(partition.max_time->count());
    if (partition.default_time) row->set_default_time(partition.default_time->count());
    row->set_tier(partition.tier);
    row->set_priority(partition.priority);
    if (partition.max_nodes) row->set_max_nodes(*partition.max_nodes);
    if (partition.max_cpus_per_node) row->set_max_cpus_per_node(*partition.max_cpus_per_node);
    row->set_min_nodes(partition.min_nodes);
    row->set_default_memory_per_cpu(partition.default_memory_per_cpu.value());
    row->set_exclusive(partition.exclusive);
    row->set_cpu_placement(std::string(to_string(partition.placement.cpu)));
    row->set_gpu_placement(std::string(to_string(partition.placement.gpu)));
    row->set_topology(partition.topology);
    row->set_preempt_mode(std::string(to_string(partition.preempt_mode)));
    row->set_qos(partition.qos);
    row->set_container_image(partition.container_image);
    for (const auto& group : partition.allow_groups) row->add_allow_groups(group);
  });
  return out;
}

api::Pong pong(const View& view, const NodeHub& hub, const Policy& policy,
               const std::string& state_text, Time now) {
  const ClusterState& state = *view.state;
  api::Pong out;
  out.set_cluster(policy.cluster_name);
  out.set_epoch(state.epoch.value());
  out.set_lsn(state.lsn.value());
  out.set_state(state_text);
  out.set_now(micros(now));
  out.set_nodes(static_cast<std::uint32_t>(state.nodes.size()));
  std::uint32_t responding = 0;
  state.nodes.for_each(
      [&](NodeId, const Node& node) { responding += answers(node, hub, policy, now) ? 1 : 0; });
  out.set_nodes_responding(responding);
  out.set_jobs_pending(static_cast<std::uint32_t>(state.pending.size()));
  std::uint32_t running = 0;
  state.nodes.for_each([&](NodeId, const Node& node) {
    for (const Charge& charge : node.charges) {
      const Job* job = state.jobs.find(charge.attempt.job);
      // Counts each job once: on the node of its first share.
      running += job && job->state == JobState::running && job->allocation &&
                         !job->allocation->nodes.empty() &&
                         job->allocation->nodes.front().node == node.id
                     ? 1
                     : 0;
    }
  });
  out.set_jobs_running(running);
  return out;
}

}  // namespace ares::aresctld
