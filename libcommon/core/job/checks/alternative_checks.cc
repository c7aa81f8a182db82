// Jobs with alternatives of GPUs: checks of the request, and whether an allocation matches one.
#include <algorithm>
#include <map>
#include <string>

#include "base/printable.h"
#include "core/job/checks/alternative_checks.h"
#include "core/job/checks/submit_checks.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

constexpr GpusPer kLists[] = {GpusPer::node, GpusPer::job, GpusPer::task};

using ByType = std::map<std::string, std::uint64_t>;

Status bad(std::string message) {
  return fail(ErrorCode::invalid_argument, "alternatives of GPUs: " + std::move(message));
}

Status check_each(const JobSpec& spec) {
  const auto& all = spec.gpu_alternatives;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].gpus.empty()) return bad("each must ask for at least one GPU");
    if (all[i].cost == 0 || all[i].cost > kMaxGpuCost)
      return bad("a cost must be above 0 and at most " + format_gpu_cost(kMaxGpuCost));
    for (std::size_t before = 0; before < i; ++before)
      if (all[before].gpus == all[i].gpus) return bad(to_text(all[i].gpus) + " is there twice");
    const JobSpec one = with_alternative(spec, i);
    for (Status (*check)(const JobSpec&) :
         {check_counts, check_gpu_parts, check_gpus, check_gpu_constraint})
      if (Status s = check(one); !s)
        return fail(s.error().code, to_text(all[i].gpus) + ": " + s.error().message);
  }
  return {};
}

ByType types_of(const Node& node, const std::vector<GpuIndex>& gpus) {
  ByType counts;
  for (const GpuIndex index : gpus) {
    const auto& has = node.inventory.gpus;
    const auto found =
        std::find_if(has.begin(), has.end(), [&](const Gpu& gpu) { return gpu.index == index; });
    ++counts[found == has.end() ? std::string() : found->type];
  }
  return counts;
}

ByType requested(const std::vector<GpuRequest>& gpus, std::uint64_t times, const std::string& any) {
  ByType counts;
  for (const GpuRequest& gpu : gpus)
    counts[gpu.type.empty() ? any : gpu.type] += devices_of(gpu) * times;
  return counts;
}

// Whether the GPUs are exactly those of `wanted`; GPUs requested without a type must be `any`.
bool are_asked_for(const ClusterState& state, const JobSpec& spec, const GpuAlternative& wanted,
                   const NodeShares& nodes, const std::string& any) {
  ByType sum;
  for (const NodeShare& share : nodes) {
    const Node* node = state.nodes.find(share.node);
    if (!node) return false;
    const ByType here = types_of(*node, share.gpus);
    for (const auto& [type, count] : here) sum[type] += count;
    if (spec.alternatives_per == GpusPer::job) continue;
    const std::uint64_t times = spec.alternatives_per == GpusPer::task ? share.tasks : 1;
    if (here != requested(wanted.gpus, times, any)) return false;
  }
  return spec.alternatives_per != GpusPer::job || sum == requested(wanted.gpus, 1, any);
}

// Whether the GPUs are as many as `wanted` asks for without a type, those of a node all of one type. Nodes may give different ones where
// no type is enough for the job.
bool are_mixed(const ClusterState& state, const JobSpec& spec, const GpuAlternative& wanted,
               const NodeShares& nodes) {
  if (wanted.gpus.size() != 1 || !wanted.gpus.front().type.empty()) return false;
  const std::uint64_t count = devices_of(wanted.gpus.front());
  std::uint64_t sum = 0;
  for (const NodeShare& share : nodes) {
    const Node* node = state.nodes.find(share.node);
    if (!node || types_of(*node, share.gpus).size() > 1) return false;
    sum += share.gpus.size();
    if (spec.alternatives_per == GpusPer::job) continue;
    const std::uint64_t times = spec.alternatives_per == GpusPer::task ? share.tasks : 1;
    if (share.gpus.size() != count * times) return false;
  }
  return spec.alternatives_per != GpusPer::job || sum == count;
}

}  // namespace

Status check_gpu_alternatives(const JobSpec& spec) {
  const auto& all = spec.gpu_alternatives;
  if (all.empty()) return {};
  if (all.size() < 2 || all.size() > kMaxGpuAlternatives)
    return bad(std::to_string(all.size()) + " of them; there may be 2 to " +
               std::to_string(kMaxGpuAlternatives));
  for (const GpusPer per : kLists)
    if (per != spec.alternatives_per && !(spec.*gpu_list(per)).empty())
      return bad("give GPUs for each node, in total, or for each task: one of these, not several");
  const auto& list = spec.*gpu_list(spec.alternatives_per);
  if (std::none_of(all.begin(), all.end(),
                   [&](const GpuAlternative& one) { return one.gpus == list; }))
    return bad("what is asked for, " + quote(to_text(list)) + ", is none of them");
  return check_each(spec);
}

bool matches_alternative(const ClusterState& state, const JobSpec& spec,
                         const std::string& partition, std::uint32_t number,
                         const NodeShares& nodes) {
  if (spec.gpu_alternatives.empty()) return number == 0;
  if (number >= spec.gpu_alternatives.size() || nodes.empty()) return false;
  const Partition* where = state.partitions.find(partition);
  if (spec.exclusive || !where || where->exclusive) return true;  // gets all GPUs of its nodes
  ByType types{{std::string(), 0}};  // with GPUs per job, a node may have none
  for (const NodeShare& share : nodes)
    if (const Node* node = state.nodes.find(share.node)) types.merge(types_of(*node, share.gpus));
  const GpuAlternative& wanted = spec.gpu_alternatives[number];
  return std::any_of(types.begin(), types.end(),
                     [&](const auto& type) {
                       return are_asked_for(state, spec, wanted, nodes, type.first);
                     }) ||
         are_mixed(state, spec, wanted, nodes);
}

}  // namespace ares::core
