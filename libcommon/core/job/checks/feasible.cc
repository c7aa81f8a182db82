// Whether a request could ever run on the nodes of a partition, and if not, what is too large.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>

#include "base/saturating.h"
#include "core/cluster/container_nodes.h"
#include "core/job/checks/gpu_cover.h"
#include "core/job/checks/gpu_types_text.h"
#include "core/job/checks/node_need.h"
#include "core/job/checks/sorted_names.h"
#include "core/job/checks/submit_checks.h"
#include "core/job/decide/decision_context.h"
#include "core/topology/cpu_layouts.h"
#include "core/topology/machines.h"
#include "core/topology/restricted_cpus.h"
#include "model/job/binding_options.h"
#include "model/job/constraint.h"
#include "model/job/gpu_alternatives.h"
#include "model/job/gpu_part.h"

namespace ares::core {
namespace {

std::uint64_t gpu_count(const std::vector<GpuRequest>& requests) {
  std::uint64_t count = 0;
  for (const GpuRequest& request : requests) count += request.count;
  return count;
}

// Collects the largest amounts of any node and the number of nodes that fit, until they suffice.
class Search {
 public:
  // `same`: a further test that each node must pass; an empty test always passes. `most_cpus`: that
  // the job can get of a node. `all_cpus`: it may have those that nodes keep for jobs with GPUs.
  Search(const JobSpec& spec, const Constraint& constraint, const FeatureTest& same,
         bool whole_nodes, bool all_cpus, std::optional<std::uint32_t> most_cpus = std::nullopt)
      : spec_(spec),
        constraint_(constraint),
        same_(same),
        whole_nodes_(whole_nodes),
        all_cpus_(all_cpus),
        cpu_limit_(most_cpus),
        threads_(used_threads_per_core(spec.binding)),
        excluded_(spec.excluded_nodes),
        counted_(constraint.counts.size(), 0) {
    gpus_per_task_ = gpu_count(spec.gpus_per_task);
    const std::uint64_t gpus_each =
        gpus_per_task_ > 0
            ? gpus_per_task_
            : gpu_count(spec.gpus_per_node.empty() ? spec.gpus_total : spec.gpus_per_node);
    whole_need_ = node_need(spec, false, gpus_per_task_, gpus_each);
    exact_need_ = node_need(spec, true, gpus_per_task_, gpus_each);
  }

  bool satisfied() const {
    return fit_ >= std::max<std::uint32_t>(1, spec_.min_nodes) &&
           tasks_ >= std::max<std::uint32_t>(1, spec_.tasks) && gpus_enough() &&
           unmet_count() == nullptr;
  }

  void offer(const Node& node) {
    const Inventory& has = node.inventory;
    if (excluded_.hold(node.name)) return;
    const bool runs_them = runs_containers(has.features);
    containers_ = containers_ || runs_them;
    if (runs_them && !not_in_containers_.empty()) {
      kept_off_ = true;
      return;
    }
    if (!constraint_.every.holds(has.features) || !same_.holds(has.features)) return;
    ++with_features_;
    if (has.cpus == 0) {  // never registered, and the configuration leaves its size open
      unknown_ = true;
      return;
    }
    const bool is_exact = has.cpu_thousandths > 0;
    const NodeNeed& need = is_exact ? exact_need_ : whole_need_;
    any_exact_ = any_exact_ || is_exact;
    const std::uint64_t cpus = usable_cpus(has);
    most_cpus_ = std::max<std::uint64_t>(most_cpus_, cpus);
    most_memory_ = std::max(most_memory_, has.memory);
    enough_cpus_ = enough_cpus_ || cpus >= need.cpus;
    enough_memory_ = enough_memory_ || has.memory >= need.memory;
    const Bytes tmp_disk = has.tmp_disk.value_or(spec_.tmp_disk);  // not known: not counted
    most_tmp_disk_ = std::max(most_tmp_disk_, tmp_disk);
    const bool over_limit =
        whole_nodes_ && cpu_limit_ && cpu_thousandths_of(has) > in_thousandths(*cpu_limit_);
    over_limit_ = over_limit_ || over_limit;
    bool fits =
        cpus >= need.cpus && has.memory >= need.memory && tmp_disk >= spec_.tmp_disk && !over_limit;
    if (!largest_ || largest_->inventory.gpus.size() < has.gpus.size()) largest_ = &node;
    for (const GpuRequest& want : spec_.gpus_per_node) {
      const std::uint32_t there = gpus_of(has, want.type);
      std::uint32_t& most = most_gpus_[want.type];
      most = std::max(most, there);
      fits = fits && there >= devices_of(want);
    }
    std::uint64_t by_gpus = ~std::uint64_t{0};
    for (const GpuRequest& want : spec_.gpus_per_task) {
      const std::uint32_t there = gpus_of(has, want.type);
      std::uint32_t& most = most_gpus_[want.type];
      most = std::max(most, there);
      fits = fits && there >= devices_of(want);
      by_gpus = std::min<std::uint64_t>(by_gpus, there / devices_of(want));
    }
    if (!fits) return;
    ++fit_;
    for (std::size_t i = 0; i < counted_.size(); ++i)
      counted_[i] += constraint_.counts[i].test.holds(has.features) ? 1 : 0;
    // The tasks of an overcommitted job share the CPUs of a node.
    const std::uint64_t by_cpus = spec_.overcommit
                                      ? std::max<std::uint64_t>(cpus / need.per_task, spec_.tasks)
                                      : cpus / need.per_task;
    std::uint64_t tasks = std::min(by_cpus, by_gpus);
    const auto is_enough_for = [&](Bytes per_cpu) {
      return spec_.overcommit && memory_of_cpus(per_cpu, cpus) <= has.memory;
    };
    if (spec_.memory_per_cpu && spec_.memory_per_cpu->value() > 0 &&
        !is_enough_for(*spec_.memory_per_cpu)) {
      const auto memory = static_cast<std::uint64_t>(has.memory.value());
      const auto per_cpu = static_cast<std::uint64_t>(spec_.memory_per_cpu->value());
      tasks = std::min(tasks, capped_product<std::uint64_t>(memory, kWholeCpu) /
                                  capped_product(per_cpu, need.per_task));
    }
    if (spec_.tasks_per_node > 0) tasks = std::min<std::uint64_t>(tasks, spec_.tasks_per_node);
    add(task_counts_, tasks_, tasks);
    GpuCounts useful;
    for (const GpuRequest& want : spec_.gpus_total) {
      const std::uint64_t there = gpus_of(has, want.type);
      auto& [counts, sum] = gpu_counts_[want.type];
      add(counts, sum, there);
      useful.push_back(std::min<std::uint64_t>(there, devices_of(want)));
    }
    ++nodes_by_gpus_[useful];
  }

  // The fewest nodes that have the GPUs requested in total, of those offered; none: all do not.
  std::optional<std::uint64_t> nodes_for_gpus() const {
    GpuCounts wanted;
    for (const GpuRequest& want : spec_.gpus_total) wanted.push_back(devices_of(want));
    return fewest_nodes(nodes_by_gpus_, wanted);
  }

  // Stops as soon as the request is satisfied, mostly after a few nodes. For several types of GPUs
  // in total it looks at all nodes, because which of them go together is found out once.
  void look_at(const ClusterState& state, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const NodeId* id = state.node_ids.find(name);
      const Node* node = id ? state.nodes.find(*id) : nullptr;
      if (node) offer(*node);
      if (spec_.gpus_total.size() <= 1 && satisfied()) return;
    }
  }

  // The amount that is too large; empty if the request is possible or a node's size is unknown.
  // `where`: which nodes these are, " of partition main".
  std::string why(const std::string& partition, const std::string& where) const {
    if (satisfied() || unknown_) return {};
    if (spec_.container && !containers_)
      return "no node" + where + " runs jobs in containers (--container-image and the like)";
    if (with_features_ == 0 && kept_off_)
      return "partition " + partition +
             " runs jobs in containers: " + std::string(not_in_containers_);
    if (with_features_ == 0 && features_text().empty())
      return "all nodes" + where + " are excluded (-x)";
    if (with_features_ == 0)
      return "no node" + where +
             " has the features asked for (invalid feature specification): " + features_text();
    const NodeNeed& need = any_exact_ ? exact_need_ : whole_need_;
    if (!enough_cpus_)
      return too_big(cpus_text(need.cpus) + " CPUs on one node" + threads_text(),
                     cpus_text(most_cpus_), where) +
             limit_text();
    if (!enough_memory_)
      return too_big(format_memory(need.memory) + " of memory on one node",
                     format_memory(most_memory_), where);
    if (spec_.tmp_disk > most_tmp_disk_)
      return too_big(format_memory(spec_.tmp_disk) + " of temporary storage on one node (--tmp)",
                     format_memory(most_tmp_disk_), where);
    for (const auto* wanted : {&spec_.gpus_per_node, &spec_.gpus_per_task})
      for (const GpuRequest& want : *wanted) {
        const auto most = most_gpus_.find(want.type);
        const std::uint32_t there = most == most_gpus_.end() ? 0 : most->second;
        if (devices_of(want) > there)
          return too_big(gpu_text(want) + " on one node", std::to_string(there), where) +
                 (want.type.empty() && largest_ ? one_type_text(*largest_) : "") + links_text();
      }
    if (fit_ < spec_.min_nodes) {
      return "needs " + std::to_string(spec_.min_nodes) + " nodes; " + std::to_string(fit_) +
             where + " could take their share" +
             (over_limit_ ? "; whole nodes have more than the " + std::to_string(*cpu_limit_) +
                                " CPUs that its jobs may have of a node (MaxCPUsPerNode)"
                          : "");
    }
    if (const FeatureCount* lacking = unmet_count())
      return "needs " + std::to_string(lacking->nodes) + " nodes with " + lacking->test.text() +
             "; " +
             std::to_string(
                 counted_[static_cast<std::size_t>(lacking - constraint_.counts.data())]) +
             where + " could take their share";
    for (const GpuRequest& want : spec_.gpus_total) {
      const auto found = gpu_counts_.find(want.type);
      const std::uint64_t there = found == gpu_counts_.end() ? 0 : found->second.second;
      if (there < devices_of(want))
        return "needs " + gpu_text(want) + "; " + std::to_string(spread()) +
               (spread() == 1 ? " node" : " nodes") + where + (spread() == 1 ? " has " : " have ") +
               std::to_string(there);
    }
    if (!gpus_enough())
      return "needs " + gpus_text(spec_.gpus_total) + "; the fewest nodes" + where +
             " that have them together are " + std::to_string(nodes_for_gpus().value_or(0)) +
             ", and the job has at most " + std::to_string(bound()) + " (-N)";
    return "needs " + std::to_string(spec_.tasks) + " tasks of " + cpus_text(need.per_task) +
           " CPUs; " + std::to_string(spread()) + " nodes" + where + " have room for " +
           std::to_string(tasks_) + (restricted_ ? limit_text() : "");
  }

 private:
  // In thousandths. Of a core only some hardware threads may count.
  std::uint64_t usable_cpus(const Inventory& inventory) {
    std::uint64_t cpus = cpu_thousandths_of(inventory);
    const auto kept =
        all_cpus_ ? nullptr : topology::restricted_cpus(inventory, machines_, layouts_);
    if (kept) cpus -= std::min<std::uint64_t>(cpus, kept->all.count() * kWholeCpu);
    restricted_ = restricted_ || kept;
    if (cpu_limit_) cpus = std::min(cpus, in_thousandths(*cpu_limit_));
    const CpuLayout* layout = threads_ ? layouts_.of(inventory.cpu_layout) : nullptr;
    if (!layout || layout->threads_per_core() <= *threads_) return cpus;
    const std::uint64_t each = (layout->threads_per_core() + *threads_ - 1) / *threads_;
    return cpus / kWholeCpu / each * kWholeCpu;
  }
  // What limits the CPUs of a node besides its size.
  std::string limit_text() const {
    std::string text = cpu_limit_ ? "MaxCPUsPerNode" : "";
    if (restricted_)
      text += std::string(text.empty() ? "" : ", ") +
              "RestrictedCoresPerGPU: the others are kept for jobs with GPUs";
    return text.empty() ? text : " (" + text + ")";
  }
  std::string threads_text() const {
    if (!threads_) return {};
    return " with " + std::to_string(*threads_) + " of the hardware threads of each core";
  }

  std::string links_text() const {
    if (spec_.gpu_constraint.none() || !containers_) return {};
    return "; where jobs run in containers and nothing is known of the links (gpu_domain_label), "
           "ask for all GPUs of each node";
  }

  // The most GPUs of one type on the node that are linked as the job requires.
  std::uint32_t gpus_of(const Inventory& inventory, const std::string& type) {
    std::map<std::string_view, std::vector<GpuIndex>> by_type;
    for (const Gpu& gpu : inventory.gpus)
      if (type.empty() || gpu.type == type) by_type[gpu.type].push_back(gpu.index);
    std::size_t best = 0;
    for (const auto& [name, gpus] : by_type) best = std::max(best, together(inventory, gpus));
    return static_cast<std::uint32_t>(best);
  }

  std::size_t together(const Inventory& inventory, const std::vector<GpuIndex>& gpus) {
    if (spec_.gpu_constraint.none()) return gpus.size();
    topology::GpuSet set;
    for (const GpuIndex gpu : gpus)
      if (gpu.value() < topology::kMaxGpus) set.insert(gpu.value());
    if (inventory.gpu_topology.empty() && runs_containers(inventory.features) &&
        asks_for_all(inventory.gpus.size()))
      return gpus.size();
    const unsigned most =
        machines_.most_together(machines_.of(inventory.gpu_topology), set, spec_.gpu_constraint);
    return whole_nodes_ && most < gpus.size() ? 0 : most;
  }

  // Where nothing is known of the links of GPUs, as mostly in containers, all of a node are as closely linked as the node has them.
  bool asks_for_all(std::size_t gpus) const {
    if (whole_nodes_) return true;
    const std::uint64_t nodes = spec_.min_nodes == spec_.max_nodes ? spec_.max_nodes : 0;
    return (!spec_.gpus_per_node.empty() && gpu_count(spec_.gpus_per_node) == gpus) ||
           (!spec_.gpus_total.empty() && gpu_count(spec_.gpus_total) == nodes * gpus) ||
           (gpus_per_task_ == gpus && spec_.tasks == nodes);
  }

  std::string gpu_text(const GpuRequest& want) const {
    std::string text = format_thousandths(thousandths_of(want)) +
                       (want.type.empty() ? "" : " " + want.type) +
                       (devices_of(want) == 1 ? " GPU" : " GPUs");
    if (!spec_.gpu_constraint.none())
      text += " with " + to_text(spec_.gpu_constraint) + (whole_nodes_ ? " of whole nodes" : "");
    return text;
  }

  std::string gpus_text(const std::vector<GpuRequest>& list) const {
    std::string text;
    for (const GpuRequest& want : list) text += (text.empty() ? "" : " and ") + gpu_text(want);
    return text;
  }

  std::string features_text() const {
    FeatureTest both{FeatureTest::Kind::all, {}, constraint_.every.parts};
    if (!same_.text().empty()) both.parts.push_back(same_);
    return both.text();
  }
  // The first node count of the constraint that is not met; null if all are met.
  const FeatureCount* unmet_count() const {
    for (std::size_t i = 0; i < counted_.size(); ++i)
      if (counted_[i] < constraint_.counts[i].nodes) return &constraint_.counts[i];
    return nullptr;
  }
  static std::string too_big(const std::string& want, const std::string& most,
                             const std::string& where) {
    return "needs " + want + "; the most a node" + where + " has is " + most;
  }
  std::size_t bound() const {
    return std::max<std::size_t>(1, std::max(spec_.max_nodes, spec_.min_nodes));
  }
  // The number of nodes that the job could use, for messages.
  std::size_t spread() const { return std::min<std::size_t>(bound(), fit_); }

  // Adds the count of a node and keeps the sum of the bound() largest counts.
  void add(std::vector<std::uint64_t>& heap, std::uint64_t& sum, std::uint64_t count) const {
    heap.push_back(count);
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
    sum += count;
    if (heap.size() <= bound()) return;
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    sum -= heap.back();
    heap.pop_back();
  }

  // The sums of each type decide unless there are several, which the same nodes must have.
  bool gpus_enough() const {
    const bool each =
        std::all_of(spec_.gpus_total.begin(), spec_.gpus_total.end(), [&](const GpuRequest& want) {
          const auto found = gpu_counts_.find(want.type);
          return found != gpu_counts_.end() && found->second.second >= devices_of(want);
        });
    if (!each || spec_.gpus_total.size() <= 1) return each;
    const auto nodes = nodes_for_gpus();
    return nodes && *nodes <= bound();
  }

  const JobSpec& spec_;
  const Constraint& constraint_;
  const FeatureTest& same_;
  const bool whole_nodes_;  // with all GPUs
  const bool all_cpus_;
  const std::optional<std::uint32_t> cpu_limit_;
  // Used hardware threads of each core; none = all.
  const std::optional<std::uint32_t> threads_;
  topology::Machines machines_;
  topology::CpuLayouts layouts_;
  const SortedNames excluded_;
  std::vector<std::uint32_t> counted_;  // nodes that fit, by index of constraint_.counts
  std::uint64_t gpus_per_task_;
  NodeNeed whole_need_, exact_need_;  // of nodes that count whole CPUs, and thousandths
  bool any_exact_ = false, enough_cpus_ = false, enough_memory_ = false;
  std::uint64_t with_features_ = 0, most_cpus_ = 0, tasks_ = 0;
  std::uint32_t fit_ = 0;
  Bytes most_memory_{};
  Bytes most_tmp_disk_{};
  bool containers_ = false;  // a node runs jobs in containers
  const std::string_view not_in_containers_ = why_not_in_containers(spec_);
  bool kept_off_ = false;  // the job from such a node
  bool unknown_ = false;
  bool restricted_ = false;        // a node keeps CPUs from it
  bool over_limit_ = false;        // a whole node has more CPUs than cpu_limit_
  const Node* largest_ = nullptr;  // with the most GPUs of all types
  std::map<std::string, std::uint32_t> most_gpus_;
  std::vector<std::uint64_t> task_counts_;
  std::map<std::string, std::pair<std::vector<std::uint64_t>, std::uint64_t>> gpu_counts_;
  NodesByGpus nodes_by_gpus_;  // no node with more GPUs than wanted
};

// What one of the nodes that the job names cannot give: the job has at least a task on each. Empty: nothing.
std::string why_not_on_named(const ClusterState& state, const JobSpec& spec,
                             const FeatureTest& every, const Partition& partition) {
  if (spec.required_nodes.empty()) return {};
  JobSpec least = spec;
  least.tasks = least.min_nodes = least.max_nodes = 1;
  least.node_counts = {};
  least.gpus_total.clear();
  const Constraint constraint{every, {}, {}};
  const FeatureTest any;
  for (const std::string& name : spec.required_nodes) {
    Search search(least, constraint, any, spec.exclusive || partition.exclusive,
                  topology::may_use_restricted_cpus(spec, partition), partition.max_cpus_per_node);
    search.look_at(state, {name});
    const std::string why = search.why(partition.name, " named by -w");
    if (!why.empty()) return "node " + name + ": " + why;
  }
  return {};
}

}  // namespace

// A job with alternatives is impossible only if each alternative is.
static std::string why_all_impossible(const ClusterState& state, const JobSpec& spec,
                                      const Partition& partition) {
  std::string all;
  for (std::size_t i = 0; i < spec.gpu_alternatives.size(); ++i) {
    const std::string why = why_impossible(state, with_alternative(spec, i), partition);
    if (why.empty()) return {};
    all += (all.empty() ? "" : "; or ") + to_text(spec.gpu_alternatives[i].gpus) + ": " + why;
  }
  return all;
}

std::string why_impossible(const ClusterState& state, const JobSpec& spec,
                           const Partition& partition) {
  if (!spec.gpu_alternatives.empty()) return why_all_impossible(state, spec, partition);
  const auto constraint = parse_constraints(spec.features);
  if (!constraint) return constraint.error().message;
  const SortedNames excluded(spec.excluded_nodes);
  const std::string* elsewhere = first_missing(spec.required_nodes, partition.nodes);
  for (const std::string& name : spec.required_nodes) {
    if (!state.node_ids.find(name)) return "Invalid node name specified: " + name;
    if (&name == elsewhere) return "node " + name + " is not in partition " + partition.name;
    if (excluded.hold(name)) return "node " + name + " is both required and excluded";
    if (!constraint->every.holds(state.nodes.find(*state.node_ids.find(name))->inventory.features))
      return "node " + name + " of -w lacks the features asked for: " + constraint->every.text();
    if (const auto why = why_not_in_containers(spec);
        !why.empty() &&
        runs_containers(state.nodes.find(*state.node_ids.find(name))->inventory.features))
      return "node " + name + " of -w runs jobs in containers: " + std::string(why);
  }
  for (const std::string& name : spec.excluded_nodes)
    if (!state.node_ids.find(name)) return "Invalid node name specified: " + name;
  if (std::string why = why_not_on_named(state, spec, constraint->every, partition); !why.empty())
    return why;
  std::string first;
  for (const FeatureTest& same :
       constraint->same.empty() ? std::vector<FeatureTest>(1) : constraint->same) {
    Search search(spec, *constraint, same, spec.exclusive || partition.exclusive,
                  topology::may_use_restricted_cpus(spec, partition), partition.max_cpus_per_node);
    search.look_at(state, partition.nodes);
    const std::string why = search.why(partition.name, " of partition " + partition.name);
    if (why.empty()) return {};
    if (first.empty()) first = why;
  }
  return first;
}

std::uint32_t nodes_for_gpus(const ClusterState& state, const JobSpec& spec) {
  const auto constraint = parse_constraints(spec.features);
  if (!constraint) return 0;
  const FeatureTest any;
  std::uint32_t fewest = 0;
  for (const std::string& name : spec.partitions) {
    const Partition* partition = state.partitions.find(name);
    if (!partition) continue;
    JobSpec wide = spec;
    wide.max_nodes = static_cast<std::uint32_t>(partition->nodes.size());
    Search search(wide, *constraint, any, spec.exclusive || partition->exclusive, true);
    for (const std::string& node_name : partition->nodes) {
      const NodeId* id = state.node_ids.find(node_name);
      if (const Node* node = id ? state.nodes.find(*id) : nullptr) search.offer(*node);
    }
    const auto nodes = static_cast<std::uint32_t>(search.nodes_for_gpus().value_or(0));
    if (nodes > 0 && (fewest == 0 || nodes < fewest)) fewest = nodes;
  }
  return fewest;
}

bool named_nodes_suffice(const ClusterState& state, const JobSpec& spec) {
  for (std::size_t i = 0; i < spec.gpu_alternatives.size(); ++i)
    if (named_nodes_suffice(state, with_alternative(spec, i))) return true;
  const auto constraint = parse_constraints(spec.features);
  if (!constraint || spec.required_nodes.empty()) return false;
  const FeatureTest any;
  Search search(spec, *constraint, any, spec.exclusive,
                topology::may_use_restricted_cpus(spec, {}));
  search.look_at(state, spec.required_nodes);
  return search.satisfied();
}

void settle_nodes(const ClusterState& state, JobSpec& spec) {
  if (named_nodes_suffice(state, spec)) {
    spec.max_nodes = spec.min_nodes;
    return;
  }
  spec.max_nodes = std::max(spec.min_nodes, spec.tasks);
  if (spec.gpus_total.empty() || spec.cpus_per_gpu > 0 || spec.memory_per_gpu) return;
  const std::uint32_t nodes = nodes_for_gpus(state, spec);
  // All nodes together have too few: the refusal is to count them all.
  if (nodes == 0)
    for (const std::string& name : spec.partitions)
      if (const Partition* partition = state.partitions.find(name))
        spec.max_nodes =
            std::max(spec.max_nodes, static_cast<std::uint32_t>(partition->nodes.size()));
  if (nodes <= spec.max_nodes) return;
  spec.min_nodes = spec.max_nodes = nodes;
  spec.tasks = std::max(spec.tasks, nodes);
}

}  // namespace ares::core
