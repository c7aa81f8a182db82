#include "core/job/decide/plan/start_checks.h"

#include <algorithm>
#include <set>

#include "core/accounts/limits/partition_bounds.h"
#include "core/accounts/membership.h"
#include "core/cluster/container_nodes.h"
#include "core/cluster/expedite.h"
#include "core/cluster/preemptible.h"
#include "core/cluster/reservation_access.h"
#include "core/cluster/spare_nodes.h"
#include "core/cluster/time_limit.h"
#include "core/job/checks/gpu_part_checks.h"
#include "core/state/indexes.h"
#include "core/state/timers.h"

namespace ares::core {
namespace {

template <class T>
bool intersect(const std::vector<T>& a, const std::vector<T>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const T& x) { return std::find(b.begin(), b.end(), x) != b.end(); });
}
template <class T>
bool repeats(std::vector<T> list) {
  std::sort(list.begin(), list.end());
  return std::adjacent_find(list.begin(), list.end()) != list.end();
}

}  // namespace

std::optional<Seconds> StartChecks::limit_of(const Job& job, const Start& start) const {
  return limit_at(q_.state, job, start.time_limit, q_.now);
}

bool StartChecks::may_start(const Job& job) const {
  return job.state == JobState::pending && job.hold == Hold::none && job.waiting_for.empty() &&
         !job.dependency_failed && job.not_before <= q_.now &&
         job.spec->begin.value_or(Time{}) <= q_.now && !deadline_is_lost(job, q_.now);
}

bool StartChecks::is_within_bounds(const Job& job, const Start& start) const {
  const Partition* partition = q_.state.partitions.find(start.partition);
  const auto& requested = job.spec->partitions;
  if (!partition || !partition->up ||
      std::find(requested.begin(), requested.end(), start.partition) == requested.end())
    return false;
  const std::size_t nodes = start.nodes.size();
  if (nodes < least_nodes(job) || nodes > std::max(job.spec->min_nodes, job.spec->max_nodes))
    return false;
  const auto most = bounds_of(q_.state.accounting, *job.spec, *partition).max_nodes;
  if (most && nodes > *most) return false;
  if (job.spec->node_counts && !job.spec->node_counts->contains(static_cast<std::uint32_t>(nodes)))
    return false;
  std::set<NodeId> distinct;
  for (const NodeShare& share : start.nodes) distinct.insert(share.node);
  if (distinct.size() != nodes) return false;
  const std::optional<Seconds> limit = effective_time_limit(job, *partition);
  return !limit || (start.time_limit && *start.time_limit <= *limit);
}

bool StartChecks::within_cpu_share(const Start& start, const NodeShare& share) {
  const auto most = q_.state.partitions.find(start.partition)->max_cpus_per_node;
  if (!most) return true;
  std::uint64_t used = cpu_thousandths_of(share);
  for (const PlanClaims::Share& other : claims_.on(share.node))
    if (other.partition && *other.partition == start.partition)
      used += cpu_thousandths_of(*other.share);
  for (const Charge& charge : q_.state.nodes.find(share.node)->charges) {
    const Job* job = q_.state.jobs.find(charge.attempt.job);
    if (job && job->allocation && job->allocation->partition == start.partition)
      used += cpu_thousandths_of(charge);
  }
  return used <= std::uint64_t{*most} * kWholeCpu;
}

bool StartChecks::within_attempts(const NodeShare& share) {
  const Node& node = *q_.state.nodes.find(share.node);
  return !node.inventory.max_attempts ||
         node.charges.size() + claims_.on(share.node).size() < *node.inventory.max_attempts;
}

bool StartChecks::leaves_restricted(const JobSpec& spec, const Start& start,
                                    const NodeShare& share) {
  const Inventory& has = q_.state.nodes.find(share.node)->inventory;
  if (!topology::restricts_cpus(has) ||
      topology::may_use_restricted_cpus(spec, *q_.state.partitions.find(start.partition)))
    return true;
  const auto kept = topology::restricted_cpus(has, machines_, layouts_);
  return !kept || (share.cpu_ids.size() == share.cpus &&
                   std::all_of(share.cpu_ids.begin(), share.cpu_ids.end(), [&](auto cpu) {
                     return cpu < kept->others.size() && kept->others.test(cpu);
                   }));
}

bool StartChecks::is_eligible(const Job& job, const Start& start) {
  const Enforce enforce = q_.policy.accounting.enforce;
  const Partition* partition = q_.state.partitions.find(start.partition);
  if (!partition || ineligible(q_.state.accounting, enforce, *job.spec, start.partition))
    return false;
  if (!missing_qos(q_.state.accounting, enforce, *partition).empty()) return false;
  if (!use_.active()) return true;
  const TresByNode allocated_tres = amounts_of(q_.state.nodes, start.nodes, start.licenses);
  return !use_.over(*job.spec, *partition, start.time_limit, &allocated_tres);
}

bool StartChecks::respects_reservations(const Job& job, const Start& start) const {
  const auto& requested = job.spec->reservations;
  if (q_.state.reservations.size() == 0) return requested.empty();
  AccessWindow window{q_.now, std::nullopt};
  if (const auto limit = limit_of(job, start)) window.to = q_.now + *limit;
  if (window.to && *window.to < q_.now + Seconds{1})
    return false;  // its reservation is almost over
  const bool flexible = any_flexible_reservation(q_.state, requested);
  for (const std::string& name : requested) {
    const Reservation* r = q_.state.reservations.find(name);
    if (r && !may_use(*r, job.spec->uid, job.spec->account)) return false;
  }
  return std::all_of(start.nodes.begin(), start.nodes.end(), [&](const NodeShare& share) {
    const Node* node = q_.state.nodes.find(share.node);
    std::vector<const Reservation*> there;
    q_.state.reservations.for_each([&](const std::string&, const Reservation& r) {
      if (node && has_node(r, node->name)) there.push_back(&r);
    });
    return reservations_allow(there, requested, flexible, window);
  });
}

template <class Stays>
bool StartChecks::has_tmp_disk(const Node& node, const JobSpec& spec,
                               const std::vector<PlanClaims::Share>& others, const Stays& stays) {
  if (!node.inventory.tmp_disk || spec.tmp_disk == Bytes{}) return true;
  Bytes used = spec.tmp_disk;
  for (const Charge& charge : node.charges)
    if (stays(charge)) used += charge.tmp_disk;
  for (const PlanClaims::Share& other : others) {
    // A resumed attempt has kept its storage.
    const bool is_charged =
        std::any_of(node.charges.begin(), node.charges.end(),
                    [&](const Charge& charge) { return charge.attempt.job == other.key; });
    if (!is_charged) used += other.of->tmp_disk;
  }
  return used <= *node.inventory.tmp_disk;
}

bool StartChecks::fits(const Job& job, const Start& start, const NodeShare& share,
                       const std::vector<PlanClaims::Share>& others, const AttemptSet* gone) const {
  const Node* node = q_.state.nodes.find(share.node);
  if (!node || !takes_jobs(*node) || (node->guard.on_trial && !others.empty())) return false;
  if (node->incarnation != share.incarnation || share.cpus == 0) return false;
  if (is_kept_for_another(q_.state, share.node, start.key)) return false;
  if (!q_.state.members.find({start.partition, node->name})) return false;

  const JobSpec& spec = *job.spec;
  if (is_kept_off_containers(spec) && runs_containers(node->inventory.features)) return false;
  const auto shut_out = [&](const std::optional<UserId>& user, bool keeps) {
    return (keeps || spec.exclusive_user) && user != spec.uid;
  };
  // A victim that is only suspended stays on the node, without its CPUs.
  const auto stays = [&](const Charge& charge) {
    return !gone ||
           (!is_ending(charge) && (!gone->contains(charge.attempt) || will_be_suspended(charge)));
  };
  for (const Charge& charge : node->charges)
    if (stays(charge) && shut_out(charge.user, charge.exclusive_user)) return false;
  for (const PlanClaims::Share& other : others)
    if (shut_out(other.of->uid, other.of->exclusive_user)) return false;

  const Inventory& has = node->inventory;
  if (share.cpu_thousandths > 0 &&
      (has.cpu_thousandths == 0 || whole_cpus(share.cpu_thousandths) != share.cpus))
    return false;
  if (!has_tmp_disk(*node, spec, others, stays)) return false;

  std::uint64_t cpus = cpu_thousandths_of(share);
  Bytes memory = share.memory;
  DeviceUse devices;
  bool clash = !devices.add(share) || repeats(share.cpu_ids);
  const auto add = [&](const auto& other, bool cpus_released = false) {
    if (!cpus_released) cpus += cpu_thousandths_of(other);
    memory += other.memory;
    clash = clash || (!share.gpus.empty() && !devices.add(other)) ||
            (!cpus_released && intersect(share.cpu_ids, other.cpu_ids));
  };
  for (const Charge& charge : node->charges)
    if (stays(charge)) add(charge, gone && gone->contains(charge.attempt));
  for (const PlanClaims::Share& other : others) add(*other.share);
  if (share.memory < Bytes{} || share.memory > has.memory) return false;
  if (clash || cpus > cpu_thousandths_of(has) || memory > has.memory) return false;
  return std::all_of(share.gpus.begin(), share.gpus.end(), [&](GpuIndex index) {
    return std::any_of(has.gpus.begin(), has.gpus.end(),
                       [&](const Gpu& gpu) { return gpu.index == index; });
  });
}

bool StartChecks::will_be_suspended(const Charge& charge) const {
  const Job* job = q_.state.jobs.find(charge.attempt.job);
  return job && releases_only_cpus(q_.state, *job);
}

bool StartChecks::is_ending(const Charge& charge) const {
  const Job* job = q_.state.jobs.find(charge.attempt.job);
  return job && job->attempt == charge.attempt.attempt && job->state == JobState::completing;
}

}  // namespace ares::core
