#include "node/environment.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/signal_name.h"
#include "model/job/binding_options.h"
#include "model/job/gpu_part.h"
#include "node/job_files.h"

namespace ares::node {
namespace {

struct Facts {
  const StepSpec& step;
  const LaunchSpec& launch;
  const JobSpec& job;
  std::string_view directory;
  Time started_at;
  std::string_view restore;
};

using Value = std::optional<std::string>;

template <class T>
Value number(T value) {
  return std::to_string(value);
}
template <class T>
Value number(const std::optional<T>& value) {
  return value ? number(*value) : std::nullopt;
}
Value text(const std::string& value) {
  return value.empty() ? Value() : Value(value);
}
Value seconds(Time time) {
  return number(std::chrono::floor<Seconds>(time).time_since_epoch().count());
}
Value mebibytes(const std::optional<Bytes>& bytes) {
  return bytes ? number(bytes->value() >> 20) : std::nullopt;
}

std::string joined(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ",") + word;
  return list;
}

bool is_array_task(const Facts& f) {
  return !f.launch.attempt.job.task.is_none();
}

// Indices of the job's GPUs on its node.
std::string indices(const Facts& f) {
  std::string list;
  for (GpuIndex gpu : f.launch.share.gpus)
    list += (list.empty() ? "" : ",") + std::to_string(gpu.value());
  return list;
}
// The same for the driver's libraries, which know an instance of a GPU by its name alone; "" hides
// the node's GPUs from a job without any.
Value devices(const Facts& f) {
  if (f.launch.share.gpus.empty()) return f.step.node_has_gpus ? Value("") : Value();
  return f.step.visible_gpus.empty() ? indices(f) : joined(f.step.visible_gpus);
}
// OpenCL of AMD's driver knows numbers only.
Value ordinals(const Facts& f) {
  const bool named = std::any_of(f.step.visible_gpus.begin(), f.step.visible_gpus.end(),
                                 [](const std::string& name) {
                                   return name.find_first_not_of("0123456789") != std::string::npos;
                                 });
  return named ? Value() : devices(f);
}
// The node numbers GPUs in the order of their PCI addresses; CUDA by itself puts the fastest first.
Value device_order(const Facts& f) {
  return f.launch.share.gpus.empty() ? Value() : Value("PCI_BUS_ID");
}
Value devices_if_any(const Facts& f) {
  return f.launch.share.gpus.empty() ? Value() : indices(f);
}

Value asked_gpus(const std::vector<GpuRequest>& requests) {
  std::vector<std::string> words;
  for (const GpuRequest& request : requests)
    words.push_back((request.type.empty() ? "" : request.type + ":") +
                    format_thousandths(thousandths_of(request)));
  return text(joined(words));
}

Value asked_licenses(const Facts& f) {
  std::string list;
  for (const LicenseRequest& license : f.job.licenses)
    list += (list.empty()        ? ""
             : f.job.any_license ? "|"
                                 : ",") +
            license.name + ":" + std::to_string(license.count);
  return text(list);
}

Value node_name(const Facts& f) {
  return text(f.launch.node_name);
}
Value node_list(const Facts& f) {
  return f.launch.layout->list;
}
Value node_count(const Facts& f) {
  return number(f.launch.layout->names.size());
}
Value own_id(const Facts& f) {
  return number(f.launch.own_id.value());
}
Value tasks(const Facts& f) {
  return number(f.job.tasks);
}
Value zero(const Facts&) {
  return "0";
}
// Without the port and brackets, as libraries want it.
std::string host_of(const std::string& address) {
  std::string host = address.substr(0, address.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return host;
}
Value master_port(const Facts& f) {
  return f.launch.master_port == 0 ? Value() : number(f.launch.master_port);
}
Value master_address(const Facts& f) {
  if (f.launch.master_port == 0) return {};
  return address_of(f.launch, 0);
}

// mpirun starts its daemons on the job's nodes by this program.
Value remote_shell(const Facts&) {
  return "ares-rsh";
}
Value by_remote_shell(const Facts&) {
  return "rsh";
}

// Set elsewhere: by the process that executes the program, or by the command that submits the job.
Value not_here(const Facts&) {
  return {};
}

struct Row {
  Variable about;
  Value (*value)(const Facts&);
  bool yields = false;     // to what was submitted
  bool submitted = false;  // the value is what was submitted under this name
};

constexpr std::string_view kArray = "array tasks";
constexpr std::string_view kSeveral = "with several tasks or nodes, unless submitted";
constexpr std::string_view kCheckpoints = "with --checkpoint";
constexpr std::string_view kGpus = "jobs with GPUs";
constexpr std::string_view kIfGiven = "if given";
constexpr std::string_view kParts = "jobs with a part of a GPU";

constexpr Row kRows[] = {
    {{"ARES_ARRAY_JOB_ID", "number of the array", kArray},
     [](const Facts& f) {
       return is_array_task(f) ? number(f.launch.attempt.job.job.value()) : Value();
     }},
    {{"ARES_ARRAY_TASK_COUNT", "number of tasks in the array", kArray},
     [](const Facts& f) { return number(f.launch.array_count); }},
    {{"ARES_ARRAY_TASK_ID", "index of this task", kArray},
     [](const Facts& f) {
       return is_array_task(f) ? number(f.launch.attempt.job.task.value) : Value();
     }},
    {{"ARES_ARRAY_TASK_MAX", "highest index of the array", kArray},
     [](const Facts& f) { return number(f.launch.array_max); }},
    {{"ARES_ARRAY_TASK_MIN", "lowest index of the array", kArray},
     [](const Facts& f) { return number(f.launch.array_min); }},
    {{"ARES_ARRAY_TASK_STEP", "distance between indices", kArray},
     [](const Facts& f) { return number(f.launch.array_step); }},
    {{"ARES_ATTEMPT_DIR", "the attempt's directory on the node; marks the job's processes", ""},
     [](const Facts& f) { return Value(f.directory); }},
    {{"ARES_CHECKPOINT_PATH",
      "directory or S3 URI of the job for its checkpoints, the same for all its attempts; see "
      "ares-checkpoint(7)",
      kCheckpoints},
     [](const Facts& f) { return text(checkpoint_directory(f.launch)); }},
    {{"ARES_CHECKPOINT_RESTORE", "directory of the newest checkpoint that is committed and intact",
      "if there is one"},
     [](const Facts& f) { return text(std::string(f.restore)); }},
    {{"ARES_CHECKPOINT_SIGNAL", "signal by which the job is told to save its state, as USR1",
      kCheckpoints},
     [](const Facts& f) {
       return f.job.checkpoint && f.job.warning ? Value(signal_name(f.job.warning->signal))
                                                : Value();
     }},
    {{"ARES_CLUSTER_NAME", "name of the cluster", ""},
     [](const Facts& f) { return text(f.launch.cluster_name); }},
    {{"ARES_CPU_BIND", "as --cpu-bind says", kIfGiven},
     [](const Facts& f) { return text(f.job.binding->cpu_bind); }},
    {{"ARES_CPU_LIMIT", "the job's CPUs on this node, as 0.5, where they are no whole number",
      "with a fraction of a CPU, on nodes that count thousandths"},
     [](const Facts& f) {
       const std::uint32_t thousandths = f.launch.share.cpu_thousandths;
       return thousandths == 0 ? Value() : format_thousandths(thousandths);
     }},
    {{"ARES_CPUS_ON_NODE", "CPUs of the job on this node; a fraction is rounded up", ""},
     [](const Facts& f) { return number(f.launch.share.cpus); }},
    {{"ARES_CPUS_PER_GPU", "CPUs asked for with --cpus-per-gpu", "if asked for"},
     [](const Facts& f) { return f.job.cpus_per_gpu == 0 ? Value() : number(f.job.cpus_per_gpu); }},
    {{"ARES_CPUS_PER_TASK", "CPUs asked for with --cpus-per-task; a fraction is rounded up", ""},
     [](const Facts& f) { return number(f.job.cpus_per_task); }},
    {{"ARES_DISTRIBUTION", "as --distribution says", kIfGiven},
     [](const Facts& f) { return text(f.job.binding->distribution); }},
    {{"ARES_DIST_PLANESIZE", "tasks in each block, of --distribution=plane=SIZE", kIfGiven},
     [](const Facts& f) {
       const auto read = parse_distribution(f.job.binding->distribution);
       return read ? number(read->plane_size) : Value();
     }},
    {{"ARES_DEADLINE_FILE",
      "file that says when the job will be killed, as soon as that is known; see ares-node(7)", ""},
     [](const Facts& f) { return Value(deadline_file(f.directory)); }},
    {{"ARES_EXPORT_ENV", "as --export of asub says; arun does not read it", "if given and not ALL"},
     not_here,
     false,
     true},
    {{"ARES_GANG_NAME", "name of the gang", "members of a gang"},
     [](const Facts& f) { return f.job.gang ? text(f.job.gang->name) : Value(); }},
    {{"ARES_GANG_SIZE", "members it was submitted to have; with --gang-min fewer may have started",
      "members of a gang"},
     [](const Facts& f) { return f.job.gang ? number(f.job.gang->size) : Value(); }},
    {{"ARES_GPUS", "GPUs asked for in total, as 4 or a100:4", "with --gpus"},
     [](const Facts& f) { return asked_gpus(f.job.gpus_total); }},
    {{"ARES_GPUS_ON_NODE", "number of GPUs of the job on this node", kGpus},
     [](const Facts& f) {
       return f.launch.share.gpus.empty() ? Value() : number(f.launch.share.gpus.size());
     }},
    {{"ARES_GPUS_PER_NODE", "GPUs asked for on each node", "with --gpus-per-node or --gres"},
     [](const Facts& f) { return asked_gpus(f.job.gpus_per_node); }},
    {{"ARES_GPUS_PER_TASK", "GPUs asked for for each task", "with --gpus-per-task"},
     [](const Facts& f) { return asked_gpus(f.job.gpus_per_task); }},
    {{"ARES_GPU_BIND", "as --gpu-bind says", kIfGiven},
     [](const Facts& f) { return text(f.job.binding->gpu_bind); }},
    {{"ARES_GPU_FRACTION",
      "the job's part of its GPU on each node, as 0.5; others may have the rest", kParts},
     [](const Facts& f) {
       const std::uint32_t part = f.launch.share.gpu_part;
       return part == 0 ? Value() : format_thousandths(part);
     }},
    {{"ARES_HINT", "as --hint says", kIfGiven},
     [](const Facts& f) { return text(f.job.binding->hint); }},
    {{"ARES_HOSTFILE", "file with a line for each node: NAME slots=TASKS", "with several tasks"},
     [](const Facts& f) {
       return has_host_file(f.launch) ? Value(host_file(f.directory)) : Value();
     }},
    {{"ARES_JOBID", "same as ARES_JOB_ID", ""}, own_id},
    {{"ARES_JOB_ACCOUNT", "account that is charged", "if it has one"},
     [](const Facts& f) { return text(f.job.account); }},
    {{"ARES_JOB_CPUS_PER_NODE", "CPUs on each node, as 72(x2),36", ""},
     [](const Facts& f) { return Value(fold_counts(f.launch.layout->cpus)); }},
    {{"ARES_JOB_DEPENDENCY", "as --dependency of asub says", kIfGiven}, not_here, false, true},
    {{"ARES_JOB_END_TIME", "when the time limit ends it, in seconds since 1970", "with a limit"},
     [](const Facts& f) {
       return f.launch.time_limit ? seconds(f.started_at + *f.launch.time_limit) : Value();
     }},
    {{"ARES_JOB_GID", "number of the job's group", ""},
     [](const Facts& f) { return number(f.step.user.gid.value()); }},
    {{"ARES_JOB_GPUS", "the job's GPUs on this node, as the node numbers them", kGpus},
     devices_if_any},
    {{"ARES_JOB_GPU_TYPES", "their types, in the same order", kGpus},
     [](const Facts& f) { return text(joined(f.launch.gpu_types)); }},
    {{"ARES_JOB_ID", "number of the job; every array task has its own", ""}, own_id},
    {{"ARES_JOB_LICENSES", "licences asked for, as matlab:2,ansys:1; with | one of them is enough",
      "if it asked"},
     asked_licenses},
    {{"ARES_JOB_NAME", "name of the job", ""}, [](const Facts& f) { return Value(f.job.name); }},
    {{"ARES_JOB_NODELIST", "nodes of the job, as n[1-4]", ""}, node_list},
    {{"ARES_JOB_NUM_NODES", "number of nodes", ""}, node_count},
    {{"ARES_JOB_PARTITION", "partition the job runs in", ""},
     [](const Facts& f) { return text(f.launch.partition); }},
    {{"ARES_JOB_QOS", "quality of service", "if it has one"},
     [](const Facts& f) { return text(f.job.qos); }},
    {{"ARES_JOB_RESERVATION", "reservations it may run in, separated by commas", "if it asked"},
     [](const Facts& f) { return text(joined(f.job.reservations)); }},
    {{"ARES_JOB_START_TIME", "when it started, in seconds since 1970", ""},
     [](const Facts& f) { return seconds(f.started_at); }},
    {{"ARES_JOB_UID", "number of the user", ""},
     [](const Facts& f) { return number(f.job.uid.value()); }},
    {{"ARES_JOB_USER", "name of the user", ""},
     [](const Facts& f) { return text(f.step.user.name); }},
    {{"ARES_LOCALID", "rank of the task on its node: 0", ""}, zero},
    {{"ARES_MEM_BIND", "as --mem-bind says", kIfGiven},
     [](const Facts& f) { return text(f.job.binding->mem_bind); }},
    {{"ARES_MEM_PER_CPU", "memory for each CPU, as --mem-per-cpu or the partition says, in MiB",
      "if it is"},
     [](const Facts& f) { return mebibytes(f.job.memory_per_cpu); }},
    {{"ARES_MEM_PER_GPU", "memory asked for with --mem-per-gpu, in MiB", "if asked for"},
     [](const Facts& f) { return mebibytes(f.job.memory_per_gpu); }},
    {{"ARES_MEM_PER_NODE", "memory asked for with --mem, in MiB; with --mem=0 what the node gives",
      "if asked for"},
     [](const Facts& f) {
       const auto& asked = f.job.memory_per_node;
       return mebibytes(asked && *asked == Bytes{} ? f.launch.share.memory : asked);
     }},
    {{"ARES_NNODES", "same as ARES_JOB_NUM_NODES", ""}, node_count},
    {{"ARES_NODEID", "number of this node within the job", ""},
     [](const Facts& f) { return number(f.launch.rank); }},
    {{"ARES_NODELIST", "same as ARES_JOB_NODELIST", ""}, node_list},
    {{"ARES_NPROCS", "same as ARES_NTASKS", ""}, tasks},
    {{"ARES_NTASKS", "number of tasks", ""}, tasks},
    {{"ARES_NTASKS_PER_NODE", "asked for with --ntasks-per-node", "if asked for"},
     [](const Facts& f) {
       return f.job.tasks_per_node == 0 ? Value() : number(f.job.tasks_per_node);
     }},
    {{"ARES_OVERCOMMIT", "1: steps may have more tasks than CPUs", "with --overcommit"},
     [](const Facts& f) { return f.job.overcommit ? Value("1") : Value(); }},
    {{"ARES_PROCID", "rank of the task: 0", ""}, zero},
    {{"ARES_RESTART_COUNT", "how often the job was started again", "after the first time"},
     [](const Facts& f) { return f.launch.restarts == 0 ? Value() : number(f.launch.restarts); }},
    {{"ARES_SUBMIT_DIR", "directory the job was submitted from", ""},
     [](const Facts& f) { return text(f.job.submit_dir); }},
    {{"ARES_SUBMIT_HOST", "machine the job was submitted from", ""},
     [](const Facts& f) { return text(f.job.submit_host); }},
    {{"ARES_TASK_PID", "number of the process of the script, or of the task of a step",
      "not in a pod of Kubernetes"},
     not_here},
    {{"ARES_TASKS_PER_NODE", "tasks on each node, as 2(x3),1", ""},
     [](const Facts& f) { return Value(fold_counts(f.launch.layout->tasks)); }},
    {{"ARES_THREADS_PER_CORE", "as --threads-per-core says", kIfGiven},
     [](const Facts& f) {
       const std::uint32_t threads = f.job.binding->threads_per_core;
       return threads == 0 ? Value() : number(threads);
     }},
    {{"ARES_TOPOLOGY_ADDR", "same as ARESD_NODENAME", ""}, node_name},
    {{"ARES_TOPOLOGY_ADDR_PATTERN", "node: what ARES_TOPOLOGY_ADDR names", ""},
     [](const Facts&) { return Value("node"); }},
    {{"ARESD_NODENAME", "name of this node", ""}, node_name},
    {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID: the order in which the node numbers its GPUs", kGpus},
     device_order},
    {{"CUDA_VISIBLE_DEVICES", "GPUs the job may use, as indices or UUIDs; empty without any",
      "on nodes that have GPUs"},
     devices},
    {{"GPU_DEVICE_ORDINAL", "the same for OpenCL, if as indices", "on nodes that have GPUs"},
     ordinals},
    {{"HYDRA_LAUNCHER", "rsh: how mpirun of MPICH reaches other nodes", "unless submitted"},
     by_remote_shell,
     true},
    {{"HYDRA_LAUNCHER_EXEC", "ares-rsh, which it runs for that", "unless submitted"},
     remote_shell,
     true},
    {{"MASTER_ADDR", "address of the job's first node, for PyTorch", kSeveral},
     master_address,
     true},
    {{"MASTER_PORT",
      "TCP port there that no other job with this first node has, for PyTorch: see ares-mpi(7)",
      kSeveral},
     master_port,
     true},
    {{"OMPI_MCA_plm", "the same for mpirun of Open MPI", "unless submitted"},
     by_remote_shell,
     true},
    {{"OMPI_MCA_plm_rsh_agent", "ares-rsh, which it runs for that", "unless submitted"},
     remote_shell,
     true},
    {{"PRTE_MCA_plm_ssh_agent", "the same for Open MPI 5", "unless submitted"}, remote_shell, true},
    {{"ROCR_VISIBLE_DEVICES", "the same for ROCm", "on nodes that have GPUs"}, devices},
    {{"TMPDIR", "/tmp", "unless submitted"}, [](const Facts&) { return Value("/tmp"); }, true},
};

// Those that Slurm does not know; the others are also set with its prefix, so that scripts and programs
// written for it find their job.
constexpr std::string_view kOursAlone[] = {
    "ARES_CHECKPOINT_PATH", "ARES_CHECKPOINT_RESTORE", "ARES_CHECKPOINT_SIGNAL", "ARES_ATTEMPT_DIR",
    "ARES_CPU_LIMIT",       "ARES_DEADLINE_FILE",      "ARES_GANG_NAME",         "ARES_GANG_SIZE",
    "ARES_GPU_FRACTION",    "ARES_HOSTFILE",           "ARES_JOB_GPU_TYPES"};

constexpr auto kVariables = [] {
  std::array<Variable, std::size(kRows)> variables{};
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i] = kRows[i].about;
  return variables;
}();

}  // namespace

std::span<const Variable> job_variables() {
  return kVariables;
}

std::optional<std::string> slurm_name(std::string_view name) {
  constexpr std::string_view kOurs = "ARES";
  if (!name.starts_with(kOurs) ||
      std::find(std::begin(kOursAlone), std::end(kOursAlone), name) != std::end(kOursAlone))
    return std::nullopt;
  return "SLURM" + std::string(name.substr(kOurs.size()));
}

std::vector<std::pair<std::string, std::optional<std::string>>> gpu_variables(
    const StepSpec& spec, std::span<const std::uint32_t> positions) {
  StepSpec part = spec;
  part.launch.share.gpus.clear();
  part.visible_gpus.clear();
  for (const std::uint32_t position : positions) {
    if (position >= spec.launch.share.gpus.size()) continue;
    part.launch.share.gpus.push_back(spec.launch.share.gpus[position]);
    if (position < spec.visible_gpus.size())
      part.visible_gpus.push_back(spec.visible_gpus[position]);
  }
  const Facts facts{part, part.launch, *part.launch.spec, {}, {}, {}};
  std::vector<std::pair<std::string, std::optional<std::string>>> variables;
  constexpr std::string_view kOfTheStep[] = {"ARES_GPUS_ON_NODE", "CUDA_DEVICE_ORDER",
                                             "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                             "ROCR_VISIBLE_DEVICES"};
  for (const Row& row : kRows) {
    if (std::find(std::begin(kOfTheStep), std::end(kOfTheStep), row.about.name) ==
        std::end(kOfTheStep))
      continue;
    Value value = row.value(facts);
    if (auto slurms = slurm_name(row.about.name); slurms && spec.slurm_variables)
      variables.emplace_back(std::move(*slurms), value);
    variables.emplace_back(row.about.name, std::move(value));
  }
  return variables;
}

std::string address_of(const LaunchSpec& launch, std::size_t node) {
  const std::vector<std::string>& addresses = launch.step_addresses;
  if (node < addresses.size() && !addresses[node].empty()) return host_of(addresses[node]);
  return node < launch.layout->names.size() ? launch.layout->names[node] : std::string();
}

std::string fold_counts(std::span<const std::uint32_t> counts) {
  std::string result;
  for (std::size_t i = 0; i < counts.size();) {
    std::size_t end = i;
    while (end < counts.size() && counts[end] == counts[i]) ++end;
    if (!result.empty()) result += ',';
    result += std::to_string(counts[i]);
    if (end - i > 1) result += "(x" + std::to_string(end - i) + ")";
    i = end;
  }
  return result;
}

std::vector<std::string> job_environment(const StepSpec& spec, std::string_view submitted,
                                         std::string_view directory, Time started_at,
                                         std::string_view restore) {
  std::map<std::string, std::string, std::less<>> variables;
  while (!submitted.empty()) {
    const std::size_t end = submitted.find('\0');
    const std::string_view item = submitted.substr(0, end);
    submitted = end == std::string_view::npos ? std::string_view() : submitted.substr(end + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    variables.insert_or_assign(std::string(item.substr(0, equals)),
                               std::string(item.substr(equals + 1)));
  }
  // A job submitted without an exported environment still needs PATH and HOME.
  variables.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
  if (!spec.user.home.empty()) variables.emplace("HOME", spec.user.home);
  if (!spec.user.shell.empty()) variables.emplace("SHELL", spec.user.shell);
  if (!spec.user.name.empty()) {
    variables.emplace("USER", spec.user.name);
    variables.emplace("LOGNAME", spec.user.name);
  }
  std::map<std::string_view, std::string> said;
  for (const Row& row : kRows)
    if (row.submitted)
      if (const auto found = variables.find(row.about.name); found != variables.end())
        said.emplace(row.about.name, found->second);
  // The port of an enclosing job is not this one's.
  const auto enclosing = variables.find("ARES_JOB_ID");
  if (enclosing != variables.end() &&
      enclosing->second != std::to_string(spec.launch.own_id.value()))
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT"}) variables.erase(name);
  // Drops the variables of an enclosing job: they do not describe a job submitted from within it.
  std::erase_if(variables, [](const auto& v) {
    constexpr std::string_view kOfJobs[] = {"ARES_ARRAY_",  "ARES_JOB_",  "ARES_STEP",
                                            "SLURM_ARRAY_", "SLURM_JOB_", "SLURM_STEP"};
    return std::any_of(std::begin(kOfJobs), std::end(kOfJobs),
                       [&](std::string_view prefix) { return v.first.starts_with(prefix); });
  });

  const Facts facts{spec, spec.launch, *spec.launch.spec, directory, started_at, restore};
  for (const Row& row : kRows) {
    if (row.yields && variables.contains(row.about.name)) continue;
    const std::optional<std::string> slurms = slurm_name(row.about.name);
    const auto own = said.find(row.about.name);
    if (Value value = own == said.end() ? row.value(facts) : Value(own->second)) {
      if (slurms && spec.slurm_variables) variables.insert_or_assign(*slurms, *value);
      variables.insert_or_assign(std::string(row.about.name), std::move(*value));
    } else if (row.about.name.starts_with("ARES")) {  // left over from an enclosing job
      variables.erase(std::string(row.about.name));
      if (slurms) variables.erase(*slurms);
    }
  }
  std::vector<std::string> result;
  result.reserve(variables.size());
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

}  // namespace ares::node
