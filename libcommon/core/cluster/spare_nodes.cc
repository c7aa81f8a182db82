#include "core/cluster/spare_nodes.h"

#include <algorithm>
#include <string>

namespace ares::core {
namespace {

constexpr std::uint32_t kMostSpareNodes = 10'000;

// Changes the number of nodes and, in proportion, of tasks.
JobSpec with_nodes(JobSpec spec, std::uint32_t nodes) {
  if (spec.tasks > 1) {
    const std::uint32_t each = spec.tasks / spec.min_nodes;
    spec.tasks = each * nodes;
    spec.tasks_per_node = each;
  }
  spec.min_nodes = spec.max_nodes = nodes;
  return spec;
}

}  // namespace

Status check_spare_nodes(const JobSpec& spec) {
  if (spec.spare_nodes == 0) return {};
  const auto bad = [](const std::string& why) {
    return fail(ErrorCode::invalid_argument, "--spare-nodes " + why);
  };
  if (spec.spare_nodes > kMostSpareNodes)
    return bad("may be at most " + std::to_string(kMostSpareNodes));
  if (!spec.requeue) return bad("is for jobs that may run again; leave --no-requeue out");
  if (spec.max_nodes != spec.min_nodes || spec.node_counts)
    return bad("needs one number of nodes: give it with -N");
  if (spec.tasks > 1 &&
      (spec.tasks % spec.min_nodes != 0 ||
       (spec.tasks_per_node != 0 && spec.tasks_per_node != spec.tasks / spec.min_nodes)))
    return bad("needs the same number of tasks on each node");
  if (!spec.gpus_total.empty()) return bad("needs GPUs for each node or task, not in total");
  if (!spec.required_nodes.empty()) return bad("cannot be combined with -w");
  if (spec.segment > 1) return bad("cannot be combined with --segment");
  return {};
}

JobSpec with_more_nodes(JobSpec spec, std::uint32_t count) {
  const std::uint32_t nodes = spec.min_nodes + count;
  return with_nodes(std::move(spec), nodes);
}

JobSpec with_fewer_nodes(JobSpec spec, std::uint32_t count) {
  const std::uint32_t nodes = spec.min_nodes - std::min(count, spec.min_nodes - 1);
  return with_nodes(std::move(spec), nodes);
}

std::size_t nodes_in_use(const JobSpec& spec, std::size_t allocated) {
  if (spec.spare_nodes == 0 || spec.spare_nodes >= spec.min_nodes) return allocated;
  return std::min<std::size_t>(allocated, spec.min_nodes - spec.spare_nodes);
}

bool is_spare(const Job& job, NodeId node) {
  if (!job.allocation || job.spec->spare_nodes == 0) return false;
  const NodeShares& shares = job.allocation->nodes;
  for (std::size_t rank = nodes_in_use(*job.spec, shares.size()); rank < shares.size(); ++rank)
    if (shares[rank].node == node) return true;
  return false;
}

std::uint32_t least_nodes(const Job& job) {
  const JobSpec& spec = *job.spec;
  if (!job.expedited || spec.spare_nodes >= spec.min_nodes) return spec.min_nodes;
  return spec.min_nodes - spec.spare_nodes;
}

}  // namespace ares::core
