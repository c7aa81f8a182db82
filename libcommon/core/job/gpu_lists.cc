#include "core/job/gpu_lists.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/printable.h"

namespace ares::core {
namespace {

using GpuList = std::vector<GpuRequest>;

constexpr std::uint64_t kMost = 1'000'000'000;

std::uint64_t sum(const GpuList& list) {
  std::uint64_t count = 0;
  for (const GpuRequest& gpu : list) count += gpu.count;
  return count;
}

std::map<std::string_view, std::uint64_t> by_type(const GpuList& list) {
  std::map<std::string_view, std::uint64_t> counts;
  for (const GpuRequest& gpu : list) counts[gpu.type] += gpu.count;
  return counts;
}

// How many times `part` is in `whole`, the same number for each type; none if it is not.
std::optional<std::uint64_t> times(const GpuList& part, const GpuList& whole) {
  const auto parts = by_type(part), wholes = by_type(whole);
  std::optional<std::uint64_t> factor;
  if (parts.size() != wholes.size()) return std::nullopt;
  for (const auto& [type, count] : wholes) {
    const auto one = parts.find(type);
    if (one == parts.end() || one->second == 0 || count % one->second != 0) return std::nullopt;
    const std::uint64_t quotient = count / one->second;
    if (factor && *factor != quotient) return std::nullopt;
    factor = quotient;
  }
  return factor;
}

bool has_parts(const JobSpec& spec) {
  for (const auto* list : {&spec.gpus_per_node, &spec.gpus_total, &spec.gpus_per_task})
    for (const GpuRequest& gpu : *list)
      if (gpu.part != 0) return true;
  return false;
}

void share_type(JobSpec& spec) {
  const std::array lists{&spec.gpus_per_node, &spec.gpus_total, &spec.gpus_per_task};
  std::set<std::string> types;
  for (const auto* list : lists)
    for (const GpuRequest& gpu : *list)
      if (!gpu.type.empty()) types.insert(gpu.type);
  if (types.size() != 1) return;
  for (auto* list : lists)
    if (list->size() == 1) list->front().type = *types.begin();
}

bool allows(const JobSpec& spec, std::uint64_t nodes) {
  if (spec.min_nodes == 0) return true;
  if (spec.node_counts && !spec.node_counts->contains(static_cast<std::uint32_t>(nodes)))
    return false;
  return nodes >= spec.min_nodes && nodes <= std::max(spec.min_nodes, spec.max_nodes);
}

std::string text(const GpuList& list) {
  std::string text;
  for (const GpuRequest& gpu : list)
    text += (text.empty() ? "" : ",") + (gpu.type.empty() ? "" : printable(gpu.type) + ":") +
            std::to_string(gpu.count);
  return text;
}

Status check_pair(const char* part_name, const GpuList& part, const char* whole_name,
                  const GpuList& whole) {
  if (part.empty() || whole.empty() || times(part, whole)) return {};
  const auto parts = by_type(part), wholes = by_type(whole);
  const bool same_types =
      std::equal(parts.begin(), parts.end(), wholes.begin(), wholes.end(),
                 [](const auto& a, const auto& b) { return a.first == b.first; });
  const std::string both =
      std::string(whole_name) + "=" + text(whole) + " and " + part_name + "=" + text(part);
  return invalid(both + (same_types ? " do not match: the first must be a multiple of the second"
                                    : " do not match: give the same types of GPUs in both"));
}

std::string count_text(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

void fill_in_from_gpu_lists(JobSpec& spec) {
  if (!spec.gpu_alternatives.empty() || has_parts(spec)) return;
  share_type(spec);
  const GpuList &per_task = spec.gpus_per_task, &per_node = spec.gpus_per_node,
                &total = spec.gpus_total;
  const auto number = [](std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min(n, kMost));
  };
  if (const auto tasks = times(per_task, per_node); tasks && spec.tasks_per_node == 0)
    spec.tasks_per_node = number(*tasks);
  if (const auto tasks = times(per_task, total); tasks && spec.tasks == 0)
    spec.tasks = number(*tasks);
  if (const auto nodes = times(per_node, total); nodes && allows(spec, *nodes)) {
    spec.min_nodes = spec.max_nodes = number(*nodes);
    spec.node_counts.reset();
  }
}

void keep_deciding_gpu_list(JobSpec& spec) {
  if (!spec.gpu_alternatives.empty() || has_parts(spec) || !check_gpu_lists(spec)) return;
  if (!spec.gpus_per_task.empty()) spec.gpus_per_node.clear();
  if (!spec.gpus_per_task.empty() || !spec.gpus_per_node.empty()) spec.gpus_total.clear();
}

Status check_gpu_lists(const JobSpec& spec) {
  const GpuList &per_task = spec.gpus_per_task, &per_node = spec.gpus_per_node,
                &total = spec.gpus_total;
  if (per_task.size() > 1) return invalid("GPUs for each task must be of one type");
  if (!spec.gpu_alternatives.empty() || has_parts(spec)) return {};
  if (Status s = check_pair("--gpus-per-task", per_task, "--gpus-per-node", per_node); !s) return s;
  if (Status s = check_pair("--gpus-per-task", per_task, "--gpus", total); !s) return s;
  if (Status s = check_pair("--gpus-per-node", per_node, "--gpus", total); !s) return s;
  if (const auto tasks = times(per_task, total); tasks && *tasks != spec.tasks)
    return invalid(std::to_string(sum(total)) + " GPUs in total do not match " +
                   count_text(spec.tasks, "task") + " of " + std::to_string(sum(per_task)));
  if (const auto tasks = times(per_task, per_node); tasks && *tasks != spec.tasks_per_node)
    return invalid(std::to_string(sum(per_node)) + " GPUs a node do not match " +
                   count_text(spec.tasks_per_node, "task") + " a node of " +
                   std::to_string(sum(per_task)));
  if (const auto nodes = times(per_node, total);
      nodes && (*nodes != spec.min_nodes || *nodes != spec.max_nodes))
    return invalid(std::to_string(sum(total)) + " GPUs in total are " + count_text(*nodes, "node") +
                   " of " + std::to_string(sum(per_node)) +
                   "; this does not match the number of nodes (-N)");
  return {};
}

}  // namespace ares::core
