#include "steps/task_environment.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/hostlist.h"
#include "node/file_pattern.h"

namespace ares::steps {
namespace {

struct Facts {
  const node::StepSpec& spec;
  const NodeLaunch& launch;
  const StepLayout::Node& node;
  std::uint32_t local;
  std::string node_list;
  std::vector<std::uint32_t> counts;  // tasks by node
};

using Value = std::optional<std::string>;

template <class T>
Value number(T value) {
  return std::to_string(value);
}
std::uint32_t rank_of(const Facts& f) {
  return f.node.ranks[f.local];
}
Value rank(const Facts& f) {
  return number(rank_of(f));
}
Value local_rank(const Facts& f) {
  return number(f.local);
}
Value size(const Facts& f) {
  return number(f.launch.layout.tasks);
}
Value local_size(const Facts& f) {
  return number(f.node.ranks.size());
}
Value node_rank(const Facts& f) {
  return number(f.launch.node);
}
Value node_count(const Facts& f) {
  return number(f.launch.layout.nodes.size());
}
Value step(const Facts& f) {
  return number(f.launch.step);
}
Value node_list(const Facts& f) {
  return f.node_list;
}
Value tasks_per_node(const Facts& f) {
  return node::fold_counts(f.counts);
}
Value ranks_here(const Facts& f) {
  std::string list;
  for (const std::uint32_t rank : f.node.ranks)
    list += (list.empty() ? "" : ",") + std::to_string(rank);
  return list;
}
Value master_address(const Facts& f) {
  return node::address_of(f.spec.launch, f.launch.layout.nodes.front().index);
}
// The job's first node decides about steps and has their tasks started, wherever arun runs.
Value launch_address(const Facts& f) {
  return node::address_of(f.spec.launch, 0);
}
Value master_port(const Facts& f) {
  return f.spec.launch.master_port == 0 ? Value() : number(f.spec.launch.master_port);
}
// As the node numbers them.
Value step_gpus(const Facts& f) {
  const std::vector<GpuIndex>& gpus = f.spec.launch.share.gpus;
  std::string list;
  for (std::uint32_t i = 0; i < gpus.size(); ++i) {
    const std::vector<std::uint32_t>& own = f.node.gpus;
    if (f.launch.layout.divides_gpus && std::find(own.begin(), own.end(), i) == own.end()) continue;
    list += (list.empty() ? "" : ",") + std::to_string(gpus[i].value());
  }
  return list.empty() ? Value() : Value(list);
}
Value gpus_per_task(const Facts& f) {
  const std::uint32_t each = f.launch.task.gpus_per_task;
  return each == 0 ? Value() : number(each);
}
Value step_name(const Facts& f) {
  return f.launch.name.empty() ? Value() : Value(f.launch.name);
}
Value cpus_per_task(const Facts& f) {
  return number(f.launch.task.cpus_per_task);
}

struct Row {
  node::Variable about;
  Value (*value)(const Facts&);
  bool yields = false;  // to what arun was given
};

// "ARES_" ones are also set with "SLURM_".
constexpr Row kRows[] = {
    {{"ARES_CPUS_PER_TASK", "CPUs of each task", ""}, cpus_per_task},
    {{"ARES_GPUS_PER_TASK", "GPUs of each task", "with --gpus-per-task"}, gpus_per_task},
    {{"ARES_GTIDS", "ranks of the step on this node, separated by commas", ""}, ranks_here},
    {{"ARES_LAUNCH_NODE_IPADDR", "address of the job's first node, which has the tasks started",
      ""},
     launch_address},
    {{"ARES_LOCALID", "number of the task on its node", ""}, local_rank},
    {{"ARES_NNODES", "number of nodes of the step", ""}, node_count},
    {{"ARES_NODEID", "number of the node within the step", ""}, node_rank},
    {{"ARES_NPROCS", "same as ARES_NTASKS", ""}, size},
    {{"ARES_NTASKS", "number of tasks of the step", ""}, size},
    {{"ARES_PROCID", "rank of the task", ""}, rank},
    {{"ARES_SRUN_COMM_HOST", "same as ARES_LAUNCH_NODE_IPADDR", ""}, launch_address},
    {{"ARES_STEPID", "same as ARES_STEP_ID", ""}, step},
    {{"ARES_STEP_ID", "number of the step", ""}, step},
    {{"ARES_STEP_GPUS", "GPUs of the step on this node, as the node numbers them", "with GPUs"},
     step_gpus},
    {{"ARES_STEP_NAME", "name of the step", ""}, step_name},
    {{"ARES_STEP_NODELIST", "nodes of the step, as n[1-4]", ""}, node_list},
    {{"ARES_STEP_NUM_NODES", "same as ARES_NNODES", ""}, node_count},
    {{"ARES_STEP_NUM_TASKS", "same as ARES_NTASKS", ""}, size},
    {{"ARES_STEP_TASKS_PER_NODE", "tasks on each node, as 2(x3),1", ""}, tasks_per_node},
    {{"ARES_TASKS_PER_NODE", "same as ARES_STEP_TASKS_PER_NODE", ""}, tasks_per_node},
    {{"GROUP_RANK", "same as ARES_NODEID, for PyTorch", ""}, node_rank},
    {{"LOCAL_RANK", "same as ARES_LOCALID, for PyTorch", ""}, local_rank},
    {{"LOCAL_WORLD_SIZE", "tasks of the step on this node, for PyTorch", ""}, local_size},
    {{"MASTER_ADDR", "address of the first node of the step, for PyTorch", ""}, master_address},
    {{"MASTER_PORT", "TCP port of the job, for PyTorch: see ares-mpi(7)", "if the job has one"},
     master_port,
     true},
    {{"NODE_RANK", "same as ARES_NODEID, for PyTorch", ""}, node_rank},
    {{"RANK", "same as ARES_PROCID, for PyTorch", ""}, rank},
    {{"WORLD_SIZE", "same as ARES_NTASKS, for PyTorch", ""}, size},
};

constexpr auto kVariables = [] {
  std::array<node::Variable, std::size(kRows)> variables{};
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i] = kRows[i].about;
  return variables;
}();

}  // namespace

std::span<const node::Variable> task_variables() {
  return kVariables;
}

std::vector<std::string> task_environment(const NodeLaunch& launch, std::uint32_t local,
                                          const node::StepSpec& spec, std::string_view directory,
                                          Time started_at,
                                          const std::optional<std::vector<std::uint32_t>>& gpus) {
  Facts facts{spec, launch, launch.layout.nodes[launch.node], local, {}, {}};
  std::vector<std::string> names;
  for (const StepLayout::Node& node : launch.layout.nodes) {
    names.push_back(node.name);
    facts.counts.push_back(static_cast<std::uint32_t>(node.ranks.size()));
  }
  facts.node_list = compress_hostlist(names);

  std::map<std::string, std::string, std::less<>> variables;
  const auto add = [&](const std::string& variable) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || equals == 0) return;
    variables.insert_or_assign(variable.substr(0, equals), variable.substr(equals + 1));
  };
  const std::vector<std::string>& given = launch.task.environment;
  if (std::find(given.begin(), given.end(), "ARESD_NODENAME=" + spec.launch.node_name) !=
      given.end()) {
    // It comes from this node. It may differ from what the job was given on purpose, such as in
    // CUDA_VISIBLE_DEVICES.
    for (const std::string& variable : given) add(variable);
  } else {
    std::string submitted;
    std::string_view restore;  // the first node, from which it comes, has looked at the files
    constexpr std::string_view kRestore = "ARES_CHECKPOINT_RESTORE=";
    for (const std::string& variable : given) {
      submitted += variable + '\0';
      if (variable.starts_with(kRestore))
        restore = std::string_view(variable).substr(kRestore.size());
    }
    for (const std::string& variable :
         node::job_environment(spec, submitted, directory, started_at, restore))
      add(variable);
  }
  if (gpus)
    for (auto& [name, value] : node::gpu_variables(spec, *gpus)) {
      variables.erase(name);
      if (value) variables.insert_or_assign(name, std::move(*value));
    }
  for (const Row& row : kRows)
    if (Value value = row.value(facts);
        value && !(row.yields && variables.contains(row.about.name))) {
      if (const auto slurms = node::slurm_name(row.about.name); slurms && spec.slurm_variables)
        variables.insert_or_assign(*slurms, *value);
      variables.insert_or_assign(std::string(row.about.name), std::move(*value));
    }
  std::vector<std::string> result;
  result.reserve(variables.size());
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

std::vector<std::string> outside_environment(const node::StepSpec& spec, std::string_view directory,
                                             Time started_at) {
  // The devices, files and place of one node mean nothing elsewhere.
  constexpr std::string_view kOfNode[] = {"ARES_ATTEMPT_DIR", "ARES_DEADLINE_FILE", "ARES_HOSTFILE",
                                          "ARES_LOCALID",     "ARES_NODEID",        "ARES_PROCID",
                                          "SLURM_LOCALID",    "SLURM_NODEID",       "SLURM_PROCID"};
  constexpr std::string_view kPrefixes[] = {"ARES_", "SLURM_", "HYDRA_", "OMPI_", "PRTE_"};
  std::vector<std::string> variables = node::job_environment(spec, {}, directory, started_at);
  std::erase_if(variables, [&](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    return std::none_of(std::begin(kPrefixes), std::end(kPrefixes),
                        [&](std::string_view prefix) { return name.starts_with(prefix); }) ||
           std::find(std::begin(kOfNode), std::end(kOfNode), name) != std::end(kOfNode);
  });
  return variables;
}

std::string expand_task_pattern(std::string_view pattern, std::uint32_t step, std::uint32_t rank,
                                const node::StepSpec& spec) {
  constexpr std::size_t kWidest = 10;
  std::string rest;
  if (pattern.find('\\') != std::string_view::npos) return node::expand_pattern(pattern, spec);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      rest += pattern[i];
      continue;
    }
    std::size_t end = i + 1, width = 0;
    while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9')
      width = std::min(kWidest, 10 * width + static_cast<std::size_t>(pattern[end++] - '0'));
    const char letter = end < pattern.size() ? pattern[end] : '\0';
    if (letter == 't' || letter == 's') {
      const std::string digits = std::to_string(letter == 't' ? rank : step);
      rest.append(width - std::min(width, digits.size()), '0').append(digits);
    } else if (letter == 'J') {
      rest += std::to_string(spec.launch.own_id.value()) + "." + std::to_string(step);
    } else {
      rest.append(pattern.substr(i, end + 1 - i));  // "%%" as a whole, too
    }
    i = end;
  }
  return node::expand_pattern(rest, spec);
}

}  // namespace ares::steps
