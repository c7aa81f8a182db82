#include "core/job/checks/gpu_part_checks.h"

#include <algorithm>

#include "core/job/checks/submit_checks.h"
#include "model/job/gpu_alternatives.h"

namespace ares::core {
namespace {

Status bad(std::string message) {
  return fail(ErrorCode::invalid_argument, std::move(message));
}

std::uint32_t part_in(const std::vector<GpuRequest>& list) {
  return list.size() == 1 ? list.front().part : 0;
}

std::uint32_t requested_part(const JobSpec& spec, std::uint32_t alternative) {
  if (alternative < spec.gpu_alternatives.size())
    return part_in(spec.gpu_alternatives[alternative].gpus);
  const GpuRequest* request = part_request(spec);
  return request ? request->part : 0;
}

Status check_each(const std::vector<GpuRequest>& list) {
  for (const GpuRequest& request : list) {
    if (request.part >= kWholeGpu)
      return bad(format_thousandths(request.part) +
                 " of a GPU: a part is below 1; ask for whole GPUs");
    if (request.part > 0 && request.count > 0)
      return bad(format_thousandths(thousandths_of(request)) +
                 " GPUs: a job gets a part of one GPU, below 1, or whole ones");
  }
  return {};
}

// The option that cannot be combined with a part of a GPU, as text; empty if there is none.
std::string incompatible_option(const JobSpec& spec) {
  if (spec.gpus_per_node.size() + spec.gpus_total.size() + spec.gpus_per_task.size() > 1)
    return "other GPUs; submit a job for each";
  if (!spec.gpu_constraint.none())
    return to_text(spec.gpu_constraint) + ", which says how several GPUs are linked; leave it out";
  if (spec.exclusive) return "--exclusive, which takes whole nodes with all GPUs; leave one out";
  if (spec.cpus_per_gpu > 0) return "--cpus-per-gpu; say --cpus-per-task instead";
  if (spec.memory_per_gpu) return "--mem-per-gpu; say --mem instead";
  if (!spec.gpus_per_task.empty() && (spec.tasks > 1 || spec.tasks_per_node > 1))
    return "several tasks of --gpus-per-task; give a part to each node (--gres), or submit a job "
           "for each task";
  if (!spec.gpus_total.empty() && (spec.max_nodes > 1 || (spec.max_nodes == 0 && spec.tasks > 1)))
    return "several nodes of --gpus; give a part to each node (--gres), or ask for one node (-N1)";
  return {};
}

}  // namespace

Status check_gpu_parts(const JobSpec& spec) {
  for (const auto* list : {&spec.gpus_per_node, &spec.gpus_total, &spec.gpus_per_task})
    if (Status s = check_each(*list); !s) return s;
  const GpuRequest* request = part_request(spec);
  if (!request) return {};
  const std::string other = incompatible_option(spec);
  if (other.empty()) return {};
  return bad("a part of a GPU (" + format_thousandths(request->part) +
             ") cannot be asked for together with " + other);
}

bool has_requested_part(const ClusterState& state, const JobSpec& spec,
                        const std::string& partition, std::uint32_t alternative,
                        const NodeShares& nodes) {
  const Partition* where = state.partitions.find(partition);
  const bool whole = spec.exclusive || !where || where->exclusive;
  const std::uint32_t part = whole ? 0 : requested_part(spec, alternative);
  return std::all_of(nodes.begin(), nodes.end(), [&](const NodeShare& share) {
    return share.gpu_part == part && (part == 0 || share.gpus.size() == 1);
  });
}

}  // namespace ares::core
