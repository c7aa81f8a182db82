#include "core/sched/index/demand.h"

#include <algorithm>
#include <tuple>

#include "base/saturating.h"
#include "core/cluster/container_nodes.h"
#include "model/job/binding_options.h"
#include "model/job/constraint.h"
#include "model/job/gpu_part.h"
#include "model/job/requested.h"

namespace ares::core::sched {
namespace {

void mix(std::size_t& seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2);
}

auto class_fields(const JobSpec& s) {
  return std::tie(s.min_nodes, s.max_nodes, s.tasks, s.cpus_per_task, s.tasks_per_node,
                  s.memory_per_node, s.memory_per_cpu, s.gpus_per_node, s.gpus_total, s.exclusive,
                  s.required_nodes, s.excluded_nodes, s.features, s.node_counts, s.gpus_per_task,
                  s.cpus_per_gpu, s.memory_per_gpu, s.exclusive_user, s.prefer, s.switches,
                  s.segment, s.reservations, s.gpu_constraint, s.gpu_alternatives,
                  s.alternatives_per, s.binding->hint, s.binding->threads_per_core, s.overcommit,
                  s.tmp_disk, s.cpu_thousandths_per_task);
}

std::uint32_t ceil_div(std::uint32_t a, std::uint32_t b) {
  return a / b + (a % b > 0 ? 1 : 0);
}

void fill_memory(Demand& demand, const JobSpec& spec, const Partition& partition) {
  if (spec.memory_per_node) {
    demand.memory_rule =
        spec.memory_per_node->value() == 0 ? MemoryRule::whole : MemoryRule::per_node;
    demand.memory = *spec.memory_per_node;
  } else if (spec.memory_per_cpu && spec.memory_per_cpu->value() > 0) {
    demand.memory_rule = MemoryRule::per_cpu;
    demand.memory = *spec.memory_per_cpu;
  } else if (spec.memory_per_cpu) {
    demand.memory_rule = MemoryRule::whole;
  } else if (partition.default_memory_per_cpu.value() > 0) {
    demand.memory_rule = MemoryRule::per_cpu;
    demand.memory = partition.default_memory_per_cpu;
  }
}

void fill_gpus(Demand& demand, const std::vector<GpuRequest>& requests, const ClusterIndex& index,
               std::vector<std::pair<std::size_t, std::uint32_t>>& typed, std::uint32_t& any) {
  for (const GpuRequest& request : requests) {
    const std::uint32_t count = devices_of(request);
    if (count == 0) continue;
    if (request.type.empty()) {
      any = capped_sum(any, count);
    } else if (const auto column = index.gpu_column(request.type)) {
      typed.emplace_back(*column, count);
    } else {
      demand.unknown_gpu_type = true;
    }
  }
}

std::uint32_t gpu_count(const std::vector<GpuRequest>& requests) {
  std::uint32_t count = 0;
  for (const GpuRequest& request : requests) count = capped_sum(count, request.count);
  return count;
}

void fill_cpus(Demand& demand, const JobSpec& spec, const ClusterIndex& index) {
  demand.cpu_unit = index.cpu_unit();
  demand.cpus_per_task =
      capped_product(std::max(spec.cpus_per_task, 1u), static_cast<std::uint32_t>(demand.cpu_unit));
  demand.exact_cpus_per_task = demand.cpus_per_task;
  if (!index.exact_column()) return;
  const std::uint64_t exact = cpu_thousandths_per_task(spec);
  if (exact < demand.cpus_per_task) demand.exact_cpus_per_task = static_cast<std::uint32_t>(exact);
}

// Fills in CPUs and memory per GPU. They apply to GPUs requested in total only if these are on one
// node (checked at submission).
void fill_per_gpu(Demand& demand, const JobSpec& spec) {
  const std::uint32_t per_task = gpu_count(spec.gpus_per_task);
  const std::uint32_t per_node =
      gpu_count(spec.gpus_per_node.empty() ? spec.gpus_total : spec.gpus_per_node);
  const auto unit = static_cast<std::uint32_t>(demand.cpu_unit);
  const auto cpus_of = [&](std::uint32_t gpus) {
    return capped_product(capped_product(gpus, spec.cpus_per_gpu), unit);
  };
  if (spec.cpus_per_gpu > 0 && per_task > 0) {
    demand.cpus_per_task = std::max(demand.cpus_per_task, cpus_of(per_task));
    demand.exact_cpus_per_task = std::max(demand.exact_cpus_per_task, cpus_of(per_task));
  } else if (spec.cpus_per_gpu > 0) {
    demand.min_cpus_per_node = cpus_of(per_node);
  }
  if (!spec.memory_per_gpu) return;
  demand.memory_rule = per_task > 0 ? MemoryRule::per_task : MemoryRule::per_node;
  demand.memory = capped_product(*spec.memory_per_gpu, per_task > 0 ? per_task : per_node);
}

// A job that uses only some hardware threads of each core is charged for the whole cores: CPUs that
// it asks for are those that it may use, and so are those that memory for each CPU is for. Nodes with
// fewer threads than others of the partition are charged as if they had as many.
void count_whole_cores(Demand& demand, const JobSpec& spec, std::uint32_t threads_per_core) {
  const auto used = used_threads_per_core(spec.binding);
  if (!used || *used >= threads_per_core) return;
  const std::uint32_t factor = ceil_div(threads_per_core, *used);
  demand.cpus_per_task = capped_product(demand.cpus_per_task, factor);
  demand.exact_cpus_per_task = capped_product(demand.exact_cpus_per_task, factor);
  demand.min_cpus_per_node = capped_product(demand.min_cpus_per_node, factor);
  if (demand.memory_rule == MemoryRule::per_cpu)
    demand.memory = Bytes((demand.memory.value() + factor - 1) / factor);
}

// The nodes that only this job may use. A job with such nodes forms a class of its own.
const std::vector<NodeId>& kept_nodes(const Job& job) {
  static const std::vector<NodeId> kNone;
  return job.expedited ? job.expedited->nodes : kNone;
}

bool needs_user(const JobSpec& spec, bool by_user) {
  return by_user || spec.exclusive_user;
}

std::shared_ptr<const Demand::Tags> make_tags(const JobSpec& spec, const Partition& partition,
                                              ClusterIndex& index) {
  const auto constraint = parse_constraints(spec.features);
  if (!constraint || !constraint->concerns_the_set()) return nullptr;
  std::vector<const FeatureTest*> clauses;
  for (const FeatureTest& test : constraint->same) clauses.push_back(&test);
  auto tags = std::make_shared<Demand::Tags>();
  tags->alternatives = clauses.size();
  for (const FeatureCount& count : constraint->counts) {
    clauses.push_back(&count.test);
    tags->counts.push_back(count.nodes);
  }
  tags->of_node.resize(index.nodes().size(), 0);
  for (const NodeIndex at : index.members(partition)) {
    const auto& features = features_of(*index.nodes()[at].node);
    for (std::size_t i = 0; i < clauses.size(); ++i)
      if (clauses[i]->holds(features)) tags->of_node[at] |= std::uint64_t{1} << i;
  }
  return tags;
}

std::shared_ptr<const Bitset> make_preferred(const JobSpec& spec, const Partition& partition,
                                             ClusterIndex& index) {
  if (spec.prefer.empty()) return nullptr;
  const auto constraint = parse_constraint(spec.prefer);
  if (!constraint || constraint->concerns_the_set()) return nullptr;
  auto preferred = std::make_shared<Bitset>(index.nodes().size());
  for (const NodeIndex at : index.members(partition))
    if (constraint->every.holds(features_of(*index.nodes()[at].node))) preferred->set(at);
  return preferred;
}

// The requested numbers of nodes within the bounds.
std::vector<std::uint32_t> allowed_counts(const IntervalSet& asked, std::uint32_t low,
                                          std::uint32_t high) {
  std::vector<std::uint32_t> counts;
  for (const auto& interval : asked.intervals())
    for (std::uint64_t n = std::max(interval.first, low); n <= std::min(interval.last, high); ++n)
      counts.push_back(static_cast<std::uint32_t>(n));
  return counts;
}

}  // namespace

Demand make_amounts(const JobSpec& spec, const Partition& partition, const ClusterIndex& index) {
  Demand demand;
  fill_cpus(demand, spec, index);
  demand.gpu_end = index.gpu_end();
  demand.cpu_share = index.cpu_share_column(partition.name);
  demand.attempts = index.attempts_column();
  if (spec.tmp_disk > Bytes{}) demand.tmp_disk = index.tmp_disk_column();
  if (demand.tmp_disk) demand.tmp_mebibytes = whole_mebibytes(spec.tmp_disk);
  demand.unrestricted = index.unrestricted_column();
  demand.only_unrestricted =
      demand.unrestricted && !topology::may_use_restricted_cpus(spec, partition);
  demand.tasks_per_node = spec.tasks_per_node;
  demand.overcommit = spec.overcommit;
  demand.exclusive = spec.exclusive || partition.exclusive;
  demand.access.exclusive_user = spec.exclusive_user;
  demand.access.reservations = spec.reservations;
  demand.access.flexible = index.reservations().flexible(spec.reservations);
  if (needs_user(spec, index.by_user())) demand.access.user = spec.uid;

  const auto required = static_cast<std::uint32_t>(spec.required_nodes.size());
  demand.min_nodes = std::max({spec.min_nodes, 1u, required});
  demand.tasks = std::max(spec.tasks, 1u);
  // `-N2 --ntasks-per-node=4` alone requests eight tasks.
  if (demand.tasks == 1 && spec.tasks_per_node > 0)
    demand.tasks = capped_product(demand.min_nodes, spec.tasks_per_node);
  demand.tasks = std::max(demand.tasks, demand.min_nodes);
  if (spec.tasks_per_node > 0)
    demand.min_nodes = std::max(demand.min_nodes, ceil_div(demand.tasks, spec.tasks_per_node));

  demand.max_nodes = spec.max_nodes > 0 ? spec.max_nodes : demand.tasks;
  demand.max_nodes = std::max(demand.max_nodes, demand.min_nodes);
  if (partition.max_nodes && demand.min_nodes <= *partition.max_nodes &&
      !index.lifts_max_nodes(spec))
    demand.max_nodes = std::min(demand.max_nodes, *partition.max_nodes);
  demand.as_many_nodes = demand.max_nodes > demand.min_nodes && demand.tasks <= demand.min_nodes;
  demand.gpu_constraint = spec.gpu_constraint;
  fill_memory(demand, spec, partition);
  fill_per_gpu(demand, spec);
  count_whole_cores(demand, spec, index.threads_per_core(partition));
  if (demand.exact_cpus_per_task != demand.cpus_per_task) demand.exact = index.exact_column();
  // Such a request is refused at submission, but an older release may have stored it.
  if (demand.memory_rule != MemoryRule::whole && demand.memory <= Bytes{}) {
    demand.memory_rule = MemoryRule::none;
    demand.memory = {};
  }
  if (const GpuRequest* part = part_request(spec)) {
    // In total on one node, or for one task, means the same as per node. A job that takes whole
    // nodes gets all of their GPUs.
    fill_gpus(demand, {*part}, index, demand.gpus_per_node, demand.any_gpus_per_node);
    if (!demand.exclusive && !demand.unknown_gpu_type) demand.gpu_part = part->part;
    return demand;
  }
  fill_gpus(demand, spec.gpus_per_task, index, demand.gpus_per_task, demand.any_gpus_per_task);
  // A release before this one stored several lists; the others agree with the first and add nothing.
  if (!spec.gpus_per_task.empty()) return demand;
  fill_gpus(demand, spec.gpus_per_node, index, demand.gpus_per_node, demand.any_gpus_per_node);
  if (spec.gpus_per_node.empty())
    fill_gpus(demand, spec.gpus_total, index, demand.gpus_total, demand.any_gpus_total);
  return demand;
}

std::vector<std::int64_t> gpu_rows_of(const Demand& demand) {
  const std::size_t stride = demand.gpu_end;
  std::vector<std::int64_t> rows(3 * stride, 0);
  for (const auto& [column, count] : demand.gpus_per_node) rows[column] += count;
  for (const auto& [column, count] : demand.gpus_total) rows[stride + column] += count;
  for (const auto& [column, count] : demand.gpus_per_task) rows[2 * stride + column] += count;
  return rows;
}

Demand make_demand(const JobSpec& spec, const Partition& partition, ClusterIndex& index,
                   bool relaxed) {
  Demand demand = make_amounts(spec, partition, index);
  demand.gpu_rows = gpu_rows_of(demand);
  if (spec.node_counts) {
    if (demand.tasks > demand.min_nodes)
      demand.max_nodes = std::min(demand.max_nodes, demand.tasks);
    const auto most = static_cast<std::uint32_t>(index.members(partition).size());
    demand.node_counts =
        allowed_counts(*spec.node_counts, demand.min_nodes, std::min(demand.max_nodes, most));
    demand.as_many_nodes = true;
    // No number of nodes is possible.
    if (demand.node_counts.empty()) demand.min_nodes = demand.max_nodes + 1;
  }
  demand.tags = make_tags(spec, partition, index);
  demand.preferred = make_preferred(spec, partition, index);
  demand.strategy = demand.wants_gpus() ? partition.placement.gpu : partition.placement.cpu;
  demand.workload = index.workload();
  demand.network = index.network(partition.topology);
  if (!index.knows_networks()) return demand;
  demand.limits.segment = std::max(spec.segment, 1u);
  demand.limits.max_leaves = relaxed ? 0 : spec.switches;
  return demand;
}

std::int64_t memory_of_cpus(const Demand& demand, std::int64_t cpus) {
  const std::int64_t memory = capped_product(demand.memory.value(), cpus);
  if (demand.cpu_unit == 1) return memory;
  return memory / demand.cpu_unit + (memory % demand.cpu_unit > 0 ? 1 : 0);
}

std::optional<Time> relaxed_from(const Job& job) {
  if (job.spec->switches == 0 || !job.spec->switches_wait) return std::nullopt;
  return job.eligible + *job.spec->switches_wait;
}

bool same_job_class(const Job& a, const Job& b, bool by_user) {
  if (needs_user(*a.spec, by_user) && a.spec->uid != b.spec->uid) return false;
  if (kept_nodes(a) != kept_nodes(b) || (!kept_nodes(a).empty() && a.key != b.key)) return false;
  return a.excluded == b.excluded &&
         (a.spec == b.spec || (class_fields(*a.spec) == class_fields(*b.spec) &&
                               is_kept_off_containers(*a.spec) == is_kept_off_containers(*b.spec)));
}

// The hash uses only fields that usually differ; same_job_class() decides.
std::size_t job_class_hash(const Job& job, bool by_user) {
  const JobSpec& s = *job.spec;
  std::size_t seed = s.min_nodes;
  mix(seed, s.max_nodes);
  mix(seed, s.tasks);
  mix(seed, s.cpus_per_task);
  if (s.cpu_thousandths_per_task > 0) mix(seed, s.cpu_thousandths_per_task);
  mix(seed, s.tasks_per_node);
  mix(seed, s.memory_per_node ? static_cast<std::size_t>(s.memory_per_node->value()) + 1 : 0);
  mix(seed, s.memory_per_cpu ? static_cast<std::size_t>(s.memory_per_cpu->value()) + 1 : 0);
  mix(seed, s.cpus_per_gpu);
  mix(seed, s.switches);
  mix(seed, s.segment);
  mix(seed, static_cast<std::size_t>(s.gpu_constraint.shape));
  mix(seed, s.gpu_constraint.min_nvlinks);
  mix(seed, s.gpu_alternatives.size());
  if (needs_user(s, by_user)) mix(seed, s.uid.value());
  for (const auto* requests : {&s.gpus_per_node, &s.gpus_total, &s.gpus_per_task})
    for (const GpuRequest& request : *requests) {
      mix(seed, request.count);
      mix(seed, request.part);
      mix(seed, std::hash<std::string>{}(request.type));
    }
  for (const auto* names : {&s.required_nodes, &s.excluded_nodes, &s.features, &s.reservations})
    for (const std::string& name : *names) mix(seed, std::hash<std::string>{}(name));
  if (s.node_counts) mix(seed, s.node_counts->count());
  if (s.tmp_disk > Bytes{}) mix(seed, static_cast<std::size_t>(s.tmp_disk.value()));
  for (const NodeId node : job.excluded) mix(seed, node.value());
  for (const NodeId node : kept_nodes(job)) mix(seed, node.value());
  return seed;
}

}  // namespace ares::core::sched
