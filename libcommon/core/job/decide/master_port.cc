#include "core/job/decide/master_port.h"

namespace ares::core {
namespace {

bool has_several_tasks(const Start& start) {
  std::uint64_t tasks = 0;
  for (const NodeShare& share : start.nodes) tasks += share.tasks;
  return start.nodes.size() > 1 || tasks > 1;
}

}  // namespace

std::uint16_t choose_master_port(const PortRange& range, const ClusterState& state, const Job& job,
                                 const Start& start, PlanClaims& claims) {
  if (range.first == 0 || range.last < range.first || !has_several_tasks(start)) return 0;
  const NodeId first = start.nodes.front().node;
  std::set<std::uint16_t> taken = claims.ports(first);
  if (const Node* node = state.nodes.find(first))
    for (const Charge& charge : node->charges) taken.insert(charge.master_port);
  // The search begins elsewhere for each job and attempt, so that a port is not given away again while
  // connections of its last user may still linger.
  const std::uint32_t size = std::uint32_t{range.last} - range.first + 1u;
  const std::uint64_t begin = job.own_id.value() + start.key.task.value + job.attempt.value();
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto port = static_cast<std::uint16_t>(range.first + (begin + i) % size);
    if (taken.contains(port)) continue;
    claims.ports(first).insert(port);
    return port;
  }
  return 0;
}

}  // namespace ares::core
