// Checks of requested resources without the nodes of the cluster: amounts, GPUs, names, features.
#include <algorithm>
#include <set>
#include <string_view>

#include "base/printable.h"
#include "core/cluster/licenses.h"
#include "core/cluster/spare_nodes.h"
#include "core/job/checks/submit_checks.h"
#include "core/job/gpu_lists.h"
#include "model/job/constraint.h"
#include "model/job/gpu_part.h"
#include "model/policy/request_limits.h"

namespace ares::core {
namespace {

constexpr std::string_view kBadNodes = "Requested node configuration is not available";

Error bad(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

Status check_memory(std::string_view what, const std::optional<Bytes>& requested) {
  if (!requested || (*requested >= Bytes{} && *requested <= kMaxRequestedMemory)) return {};
  return fail(bad("memory per " + std::string(what) + " is " +
                  (*requested < Bytes{} ? "negative" : format_memory(*requested)) + "; at most " +
                  format_memory(kMaxRequestedMemory) + " can be asked for"));
}

Status check_tmp_disk(Bytes requested) {
  if (requested >= Bytes{} && requested <= kMaxRequestedMemory) return {};
  return fail(bad("temporary storage on a node is " +
                  (requested < Bytes{} ? "negative" : format_memory(requested)) + "; at most " +
                  format_memory(kMaxRequestedMemory) + " can be asked for"));
}

Status check_factor(std::string_view what, std::uint32_t requested) {
  if (requested <= kMaxRequestedCpus) return {};
  return fail(bad("More processors requested than permitted: " + std::to_string(requested) + " " +
                  std::string(what) + "; at most " + std::to_string(kMaxRequestedCpus) +
                  " can be asked for"));
}

std::uint64_t gpu_count(const std::vector<GpuRequest>& list) {
  std::uint64_t count = 0;
  for (const GpuRequest& g : list) count += g.count;
  return count;
}

Status check_gpu_list(std::string_view what, const std::vector<GpuRequest>& list) {
  if (list.size() > kMaxGpuKinds)
    return fail(bad(std::to_string(list.size()) + " kinds of GPUs " + std::string(what) +
                    "; at most " + std::to_string(kMaxGpuKinds) + " can be asked for"));
  if (std::any_of(list.begin(), list.end(),
                  [](const GpuRequest& g) { return thousandths_of(g) == 0; }))
    return fail(bad("a GPU request must ask for at least one"));
  if (const std::uint64_t count = gpu_count(list); count > kMaxRequestedGpus)
    return fail(bad(std::to_string(count) + " GPUs " + std::string(what) + "; at most " +
                    std::to_string(kMaxRequestedGpus) + " can be asked for"));
  return {};
}

// Bounds each amount by itself, so that later products of them cannot overflow.
Status check_amounts(const JobSpec& spec) {
  for (const auto& [what, requested] :
       {std::pair("node", &spec.memory_per_node), std::pair("CPU", &spec.memory_per_cpu),
        std::pair("GPU", &spec.memory_per_gpu)})
    if (Status s = check_memory(what, *requested); !s) return s;
  if (Status s = check_tmp_disk(spec.tmp_disk); !s) return s;
  if (spec.memory_per_gpu && *spec.memory_per_gpu == Bytes{})
    return fail(bad("memory per GPU is 0: give the memory that comes with each GPU, at most " +
                    format_memory(kMaxRequestedMemory)));
  for (const auto& [what, requested] : {std::pair("CPUs for each task", spec.cpus_per_task),
                                        std::pair("CPUs for each GPU", spec.cpus_per_gpu),
                                        std::pair("tasks a node", spec.tasks_per_node)})
    if (Status s = check_factor(what, requested); !s) return s;
  for (const auto& [what, list] :
       {std::pair("a node", &spec.gpus_per_node), std::pair("in total", &spec.gpus_total),
        std::pair("for each task", &spec.gpus_per_task)})
    if (Status s = check_gpu_list(what, *list); !s) return s;
  return {};
}

Status check_names(std::string_view what, const std::vector<std::string>& names) {
  if (names.size() > kMaxNamedNodes)
    return fail(bad("Invalid node name specified: " + std::to_string(names.size()) + " nodes are " +
                    std::string(what) + "; at most " + std::to_string(kMaxNamedNodes) +
                    " can be named"));
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return {};
  return fail(bad("Invalid node name specified: " + std::string(*twice) + " is " +
                  std::string(what) + " twice; name it once"));
}

Status check_named_nodes(const JobSpec& spec) {
  if (Status s = check_names("required", spec.required_nodes); !s) return s;
  return check_names("excluded", spec.excluded_nodes);
}

std::size_t count_names(const FeatureTest& test) {
  std::size_t count = test.kind == FeatureTest::Kind::name ? 1 : 0;
  for (const FeatureTest& part : test.parts) count += count_names(part);
  return count;
}

std::size_t count_names(const Constraint& constraint) {
  std::size_t count = count_names(constraint.every);
  for (const FeatureTest& test : constraint.same) count += count_names(test);
  for (const FeatureCount& wanted : constraint.counts) count += count_names(wanted.test);
  return count;
}

}  // namespace

Status check_counts(const JobSpec& spec) {
  if (spec.min_nodes < 1 || (spec.max_nodes > 0 && spec.max_nodes < spec.min_nodes)) {
    return fail(bad("Node count specification invalid: " + std::to_string(spec.min_nodes) + " to " +
                    std::to_string(spec.max_nodes)));
  }
  if (spec.tasks < 1)
    return fail(bad("More processors requested than permitted: a job has at least one task"));
  if (spec.cpus_per_task < 1) return fail(bad("a task needs at least one CPU"));
  if ((spec.memory_per_node ? 1 : 0) + (spec.memory_per_cpu ? 1 : 0) +
          (spec.memory_per_gpu ? 1 : 0) >
      1)
    return fail(bad("memory per node, per CPU and per GPU exclude each other"));
  if (spec.max_nodes > 0 && spec.required_nodes.size() > spec.max_nodes) {
    return fail(
        bad("Node count specification invalid: " + std::to_string(spec.required_nodes.size()) +
            " nodes required, at most " + std::to_string(spec.max_nodes) + " asked for"));
  }
  return check_amounts(spec);
}

Status check_gpus(const JobSpec& spec) {
  const std::uint64_t per_task = gpu_count(spec.gpus_per_task),
                      per_node = gpu_count(spec.gpus_per_node), total = gpu_count(spec.gpus_total);
  if (Status s = check_gpu_lists(spec); !s) return s;
  if (spec.cpus_per_gpu == 0 && !spec.memory_per_gpu) return {};
  if (per_task + per_node + total == 0)
    return fail(bad("CPUs or memory for each GPU, but no GPUs asked for"));
  if (per_task == 0 && per_node == 0 && total > 0 && spec.max_nodes > 1)
    return fail(
        bad("CPUs or memory for each GPU, with GPUs in total, is for jobs of one node: give "
            "GPUs for each node or task instead"));
  return {};
}

Status check_gpu_constraint(const JobSpec& spec) {
  if (spec.gpu_constraint.min_nvlinks > kMaxNvlinks)
    return fail(bad("--min-nvlink=" + std::to_string(spec.gpu_constraint.min_nvlinks) +
                    ": two GPUs have at most " + std::to_string(kMaxNvlinks) + " NVLinks"));
  if (spec.gpu_constraint.none()) return {};
  const std::string what = to_text(spec.gpu_constraint);
  std::set<std::string_view> types;
  for (const auto* list : {&spec.gpus_per_node, &spec.gpus_per_task, &spec.gpus_total})
    for (const GpuRequest& request : *list) types.insert(request.type);
  if (types.empty())
    return fail(bad(what + " says how GPUs are linked; ask for GPUs as well, or leave it out"));
  if (types.size() > 1)
    return fail(bad(what + " is for GPUs of one type; ask for GPUs of one type only"));
  return {};
}

Status check_node_counts(const JobSpec& spec) {
  if (!spec.node_counts) return {};
  if (spec.node_counts->intervals().size() > kMaxNodeCountRanges)
    return fail(bad("Node count specification invalid: " +
                    std::to_string(spec.node_counts->intervals().size()) +
                    " separate numbers or ranges; at most " + std::to_string(kMaxNodeCountRanges) +
                    " are allowed"));
  if (spec.node_counts->empty() || spec.node_counts->front() < 1 ||
      spec.node_counts->front() != spec.min_nodes || spec.node_counts->back() != spec.max_nodes)
    return fail(bad("Node count specification invalid: " + format_interval_set(*spec.node_counts)));
  return {};
}

Status check_constraint(const JobSpec& spec) {
  const auto too_many = [](std::size_t count, const char* of_what) {
    return fail(bad("Invalid feature specification: " + std::to_string(count) + of_what +
                    "; at most " + std::to_string(kMaxFeatureNames) + " are allowed"));
  };
  if (spec.features.size() > kMaxFeatureNames)
    return too_many(spec.features.size(), " constraints");
  const auto constraint = parse_constraints(spec.features);
  if (!constraint) return fail(constraint.error());
  if (const std::size_t names = count_names(*constraint); names > kMaxFeatureNames)
    return too_many(names, " names of features");
  for (const FeatureCount& count : constraint->counts)
    if (spec.max_nodes > 0 && count.nodes > spec.max_nodes)
      return fail(bad(std::string(kBadNodes) + ": " + std::to_string(count.nodes) + " nodes with " +
                      count.test.text() + " asked for, but at most " +
                      std::to_string(spec.max_nodes) + " nodes"));
  return {};
}

Status check_layout(const JobSpec& spec) {
  if (spec.switches_wait && (spec.switches == 0 || *spec.switches_wait <= Seconds{0}))
    return fail(bad("a time to wait for switches: give their number, and a time above 0"));
  if (!spec.prefer.empty()) {
    const auto constraint = parse_constraint(spec.prefer);
    if (!constraint) return fail(constraint.error());
    if (const std::size_t names = count_names(*constraint); names > kMaxFeatureNames)
      return fail(bad("Invalid feature specification: " + std::to_string(names) +
                      " names of preferred features; at most " + std::to_string(kMaxFeatureNames) +
                      " are allowed"));
    if (constraint->concerns_the_set())
      return fail(bad("Invalid feature specification: " + quote(spec.prefer) +
                      " says something of several nodes together; what is preferred is of each "
                      "node: a&b, a|b"));
  }
  const auto requested = parse_constraints(spec.features);
  if ((spec.switches > 0 || spec.segment > 1) && requested && !requested->counts.empty())
    return fail(
        bad("Invalid feature specification: numbers of nodes with a feature (a*2) cannot be "
            "asked for together with --switches or --segment"));
  if (spec.segment <= 1) return {};
  const std::uint64_t most = spec.max_nodes > 0 ? std::max(spec.max_nodes, spec.min_nodes)
                                                : std::max(spec.tasks, spec.min_nodes);
  const std::uint64_t next = (std::uint64_t{spec.min_nodes} + spec.segment - 1) / spec.segment *
                             spec.segment;  // the smallest multiple that is enough
  bool possible = next <= most;
  if (spec.node_counts) {
    possible = false;
    for (const auto& range : spec.node_counts->intervals())
      possible = possible || range.last / spec.segment * spec.segment >= range.first;
  }
  if (possible) return {};
  return fail(
      bad("Node count specification invalid: no multiple of the segment of " +
          std::to_string(spec.segment) + " nodes is among the numbers of nodes asked for (" +
          (spec.node_counts         ? format_interval_set(*spec.node_counts)
           : most == spec.min_nodes ? std::to_string(most)
                                    : std::to_string(spec.min_nodes) + "-" + std::to_string(most)) +
          ")"));
}

Status check_resources(const Policy& policy, const JobSpec& spec) {
  for (Status (*check_part)(const JobSpec&) :
       {check_counts, check_gpu_parts, check_gpus, check_gpu_alternatives, check_gpu_constraint,
        check_node_counts, check_named_nodes, check_constraint, check_layout, check_spare_nodes})
    if (Status s = check_part(spec); !s) return s;
  return check_licenses(policy, spec);
}

}  // namespace ares::core
