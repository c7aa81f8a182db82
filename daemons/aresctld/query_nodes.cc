#include <algorithm>
#include <chrono>
#include <set>

#include "aresctld/queries.h"
#include "base/hostlist.h"
#include "proto/convert.h"

namespace ares::aresctld {
namespace {

std::int64_t micros(Time t) {
  return t.time_since_epoch().count();
}

struct Charged {
  std::uint32_t cpus = 0;
  std::int64_t memory = 0;
};

Charged charged(const Node& node) {
  Charged sum;
  for (const Charge& charge : node.charges) {
    sum.cpus += charge.cpus;
    sum.memory += charge.memory.value();
  }
  return sum;
}

// Missed three heartbeats: shown with a star. Only the view of this controller, so it needs no
// event.
bool answers(const Node& node, const NodeHub& hub, const Policy& policy, Time now) {
  if (node.contact != Contact::registered) return false;
  const auto heard = hub.last_heard(node.name);
  return heard && now - *heard < 3 * policy.heartbeat;
}

std::string state_of(const Node& node, bool answering, const Charged& used) {
  if (node.admin == AdminState::down) return "DOWN";
  if (node.contact == Contact::lost) return "DOWN*";
  std::string state;
  if (node.admin == AdminState::drain)
    state = node.charges.empty() ? "DRAINED" : "DRAINING";
  else if (node.contact == Contact::never)
    state = "UNKNOWN";
  else if (used.cpus == 0 && node.charges.empty())
    state = "IDLE";
  else
    state = used.cpus >= node.inventory.cpus ? "ALLOCATED" : "MIXED";
  return answering ? state : state + "*";
}

}  // namespace

Result<api::Nodes> list_nodes(const View& view, const NodeHub& hub, const Policy& policy,
                              const api::ListNodes& filter, Time now) {
  const ClusterState& state = *view.state;
  std::set<std::string> wanted;
  if (!filter.nodes().empty()) {
    auto names = expand_hostlist(filter.nodes());
    if (!names) return fail(names.error());
    for (const auto& name : *names) {
      if (!state.node_ids.find(name))
        return fail(ErrorCode::not_found, "Invalid node name specified: " + name);
      wanted.insert(name);
    }
  }
  const std::set<std::string> states(filter.states().begin(), filter.states().end());
  const std::set<std::string> partitions(filter.partitions().begin(), filter.partitions().end());
  std::map<std::string, std::vector<std::string>> partitions_of;
  state.partitions.for_each([&](const std::string& name, const Partition& partition) {
    for (const auto& node : partition.nodes) partitions_of[node].push_back(name);
  });

  api::Nodes out;
  out.set_now(micros(now));
  state.nodes.for_each([&](NodeId, const Node& node) {
    if (!wanted.empty() && !wanted.contains(node.name)) return;
    const auto& in = partitions_of[node.name];
    if (!partitions.empty() &&
        std::none_of(in.begin(), in.end(), [&](const auto& p) { return partitions.contains(p); }))
      return;
    const Charged used = charged(node);
    const std::string text = state_of(node, answers(node, hub, policy, now), used);
    const std::string plain = text.ends_with('*') ? text.substr(0, text.size() - 1) : text;
    if (!states.empty() && !states.contains(plain)) return;
    const Inventory& has = node.contact == Contact::never ? node.configured : node.inventory;

    api::Node* row = out.add_nodes();
    row->set_name(node.name);
    row->set_state(text);
    row->set_reason(node.reason);
    if (node.reason_by) row->set_reason_by(std::to_string(node.reason_by->value()));
    if (node.reason_at) row->set_reason_at(micros(*node.reason_at));
    row->set_cpus(has.cpus);
    row->set_cpus_allocated(used.cpus);
    row->set_memory(has.memory.value());
    row->set_memory_allocated(used.memory);
    for (const Gpu& gpu : has.gpus) {
      api::Gpu* entry = row->add_gpus();
      entry->set_index(gpu.index.value());
      entry->set_type(gpu.type);
    }
    for (const Charge& charge : node.charges) {
      for (const GpuIndex index : charge.gpus) row->add_gpus_allocated(index.value());
      proto::to_api(charge.attempt.job, row->add_jobs());
    }
    for (const auto& partition : in) row->add_partitions(partition);
    for (const auto& feature : has.features) row->add_features(feature);
    if (node.registered_at) row->set_registered_at(micros(*node.registered_at));
    if (const auto heard = hub.last_heard(node.name)) row->set_last_heard(micros(*heard));
    row->set_incarnation(node.incarnation);
    row->set_version(node.version_text);
    row->set_address(node.address);
    row->set_can_freeze(node.can_freeze);
  });
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
    row->set_nodes(compress_hostlist(partition.nodes));
    if (partition.max_time) row->set_max_time(partition.max_time->count());
    if (partition.default_time) row->set_default_time(partition.default_time->count());
    row->set_tier(partition.tier);
    row->set_priority(partition.priority);
    if (partition.max_nodes) row->set_max_nodes(*partition.max_nodes);
    row->set_min_nodes(partition.min_nodes);
    row->set_default_memory_per_cpu(partition.default_memory_per_cpu.value());
    row->set_exclusive(partition.exclusive);
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
      // Each job once: by the node of its first share.
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
