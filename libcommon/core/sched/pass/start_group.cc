#include "core/sched/pass/start_group.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/job/decide/decision_context.h"
#include "core/sched/place/nodes_with_capacity.h"
#include "model/job/gpu_part.h"

namespace ares::core::sched {
namespace {

// Computed from the specification only, because a demand may have columns of GPU types that no node
// has any more.
auto placement_difficulty(const JobSpec& spec) {
  std::int64_t gpus = 0;
  for (const auto& [list, times] :
       {std::pair(&spec.gpus_per_node, spec.min_nodes), std::pair(&spec.gpus_total, 1u),
        std::pair(&spec.gpus_per_task, spec.tasks)})
    for (const GpuRequest& gpu : *list) gpus += thousandths_of(gpu) * times;
  return std::tuple(spec.exclusive, gpus, std::int64_t{spec.tasks} * spec.cpus_per_task,
                    spec.min_nodes, spec.memory_per_node.value_or(Bytes{}));
}

// As many nodes as the members need at most, as close together as the network has them; null if
// that is no choice.
std::shared_ptr<const Bitset> close_nodes(const StartGroup& group, const ClusterIndex& index) {
  const topology::Network* network = group.members.front().job_class->demand.network;
  if (!network) return nullptr;
  std::set<const JobClass*> classes;
  std::uint32_t needed = 0;
  auto able = std::make_shared<Bitset>(index.nodes().size());
  for (const Member& member : group.members) {
    const JobClass& job_class = *member.job_class;
    needed += job_class.demand.min_nodes;
    if (!classes.insert(&job_class).second) continue;
    for (const NodeIndex node : job_class.nodes().nodes)
      if (!able->test(node) && tasks_now(job_class.demand, node, index) > 0) able->set(node);
  }
  std::vector<topology::NodeCandidate> offers;
  able->for_each([&](std::size_t node) {
    offers.push_back({static_cast<NodeIndex>(node), false});
  });
  if (offers.size() <= needed) return nullptr;
  const auto packed = topology::pack(*network, offers, needed, {});
  if (!packed) return nullptr;
  auto close = std::make_shared<Bitset>(index.nodes().size());
  for (const std::uint32_t i : *packed) close->set(offers[i].node);
  return close;
}

}  // namespace

std::string StartGroup::text() const {
  return gang ? "gang " + gang->request.name : "job " + job_text(members.front().job().key);
}

std::vector<Member> members_of(const Gang& gang, const ClusterState& state) {
  std::vector<Member> members;
  for (const Job* job : gang.members) {
    const QueueEntry entry{job, state.partitions.find(job->spec->partitions.front()), 0};
    if (!job->array) members.push_back({entry, job->key.task});
    if (job->array)
      for (const std::uint32_t task : job->array->waiting)
        members.push_back({entry, TaskIndex{task}});
  }
  std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return placement_difficulty(a.spec()) > placement_difficulty(b.spec());
  });
  return members;
}

std::vector<GangOrder> gang_orders(const StartGroup& group) {
  if (group.alone()) return {GangOrder::ranked};
  std::vector<GangOrder> orders;
  if (group.members.front().job_class->demand.network) orders.push_back(GangOrder::close);
  orders.push_back(GangOrder::ranked);
  if (std::any_of(group.members.begin(), group.members.end(), [](const Member& member) {
        const Demand& demand = member.job_class->demand;
        return demand.max_nodes > 1 || demand.strategy != PlacementStrategy::spread;
      }))
    orders.push_back(GangOrder::spread);
  return orders;
}

std::vector<Demand> demands_in_order(const StartGroup& group, GangOrder order,
                                     const ClusterIndex& index) {
  std::vector<Demand> demands;
  if (order == GangOrder::ranked) return demands;
  const auto close = order == GangOrder::close ? close_nodes(group, index) : nullptr;
  if (order == GangOrder::close && !close) return demands;
  for (const Member& member : group.members) {
    Demand& demand = demands.emplace_back(member.job_class->demand);
    if (order == GangOrder::close) {
      if (!demand.preferred) demand.preferred = close;
      continue;
    }
    demand.strategy = PlacementStrategy::spread;
    demand.preferred = nullptr;
    if (!demand.limited()) demand.network = nullptr;
  }
  return demands;
}

}  // namespace ares::core::sched
