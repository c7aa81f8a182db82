#include "core/sched/place/filter.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/cluster/container_nodes.h"
#include "model/job/constraint.h"

namespace ares::core::sched {
namespace {

// Sorted because the list may contain as many names as the cluster has nodes, and each node is
// looked up in it.
std::vector<std::string_view> sorted(const std::vector<std::string>& names) {
  std::vector<std::string_view> out(names.begin(), names.end());
  std::sort(out.begin(), out.end());
  return out;
}

bool in_one_of(const std::vector<const Reservation*>& there,
               const std::vector<std::string>& names) {
  return std::any_of(there.begin(), there.end(), [&](const Reservation* r) {
    return std::find(names.begin(), names.end(), r->name) != names.end();
  });
}

}  // namespace

Candidates filter(const Job& job, const Partition& partition, ClusterIndex& index) {
  const JobSpec& spec = *job.spec;
  Candidates result;
  const auto constraint = parse_constraints(spec.features);
  // The constraints were checked at submission, but an older release may have stored some that this
  // one refuses.
  if (!constraint) {
    result.problem = constraint.error().message;
    return result;
  }
  const bool in_reservation =
      !spec.reservations.empty() && !index.reservations().flexible(spec.reservations);
  const std::vector<std::string_view> excluded = sorted(spec.excluded_nodes);
  const std::string_view not_in_containers = why_not_in_containers(spec);
  bool kept_off = false;
  std::vector<NodeIndex> members, fallback, usable;
  for (const NodeIndex at : index.members(partition)) {
    const IndexedNode& node = index.nodes()[at];
    if (std::binary_search(excluded.begin(), excluded.end(), std::string_view(node.node->name)))
      continue;
    if (!constraint->every.holds(features_of(*node.node))) continue;
    if (!not_in_containers.empty() && runs_containers(features_of(*node.node))) {
      kept_off = true;
      continue;
    }
    if (in_reservation && !in_one_of(index.reservations().on(at), spec.reservations)) continue;
    members.push_back(at);
    if (!node.usable && !is_kept_for(node, job)) continue;
    fallback.push_back(at);
    const auto& failed = job.excluded;
    if (std::find(failed.begin(), failed.end(), node.node->id) == failed.end())
      usable.push_back(at);
  }
  const std::size_t all = index.nodes().size();
  result.usable = job.excluded.empty() ? NodeList(fallback, all) : NodeList(usable, all);
  result.fallback = job.excluded.empty() ? result.usable : NodeList(fallback, all);
  result.members = NodeList(std::move(members), all);
  if (kept_off && result.members.empty()) {
    result.problem = "partition " + partition.name +
                     " runs jobs in containers: " + std::string(not_in_containers);
    return result;
  }
  if (in_reservation && result.members.empty()) {
    result.problem = "no node of its reservation is in partition " + partition.name +
                     ", with the features asked for and not excluded";
    return result;
  }
  for (const std::string& name : spec.required_nodes) {
    const auto at = index.find(name);
    if (!at || !std::binary_search(result.members.begin(), result.members.end(), *at)) {
      result.problem = "node " + name + " of -w is not in partition " + partition.name +
                       ", or is excluded, or lacks a feature";
      return result;
    }
    result.required.push_back(*at);
  }
  std::sort(result.required.begin(), result.required.end());
  return result;
}

}  // namespace ares::core::sched
