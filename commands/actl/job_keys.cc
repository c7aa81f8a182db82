// The properties of jobs that `update job` can change.
#include <limits>
#include <map>
#include <string_view>

#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "model/job/spec_table.h"
#include "submission/translated_options.h"

namespace ares::actl {
namespace {

using Action = api::JobAction;
using Apply = std::function<Status(Action&, const std::string&, Time)>;
using SpecText = void (api::JobSpec::*)(const std::string&);
using SpecCount = void (api::JobSpec::*)(std::uint32_t);
using Fields = std::vector<const char*>;

void changes(Action& action, const Fields& fields) {
  for (const char* field : fields) action.add_fields(field);
}

// A property that asub has too; `set` is the parser shared with asub.
Apply spec(Fields fields, Status (*set)(api::JobSpec&, const std::string&)) {
  return [fields, set](Action& action, const std::string& value, Time) {
    changes(action, fields);
    return set(*action.mutable_values(), value);
  };
}
// The same, but an empty value clears it.
Apply spec_or_none(Fields fields, Status (*set)(api::JobSpec&, const std::string&)) {
  return [fields, set](Action& action, const std::string& value, Time) -> Status {
    changes(action, fields);
    return value.empty() ? Status{} : set(*action.mutable_values(), value);
  };
}
Apply text(const char* field, SpecText set) {
  return [field, set](Action& action, const std::string& value, Time) -> Status {
    if (has_control(value)) return invalid("it holds a control character");
    action.add_fields(field);
    (action.mutable_values()->*set)(value);
    return {};
  };
}
Status set_work_dir(Action& action, const std::string& value, Time) {
  action.add_fields("work_dir");
  if (!value.starts_with('/') || has_control(value)) return invalid("it must be an absolute path");
  action.mutable_values()->set_work_dir(value);
  return {};
}
Apply count(const char* field, SpecCount set) {
  return [field, set](Action& action, const std::string& value, Time) -> Status {
    const auto number = cli::parse_integer(value, 1, 1'000'000'000);
    if (!number) return fail(number.error());
    action.add_fields(field);
    (action.mutable_values()->*set)(static_cast<std::uint32_t>(*number));
    return {};
  };
}

Result<bool> yes_or_no(const std::string& value) {
  const std::string word = cli::lower(value);
  if (word == "1" || word == "yes") return true;
  if (word == "0" || word == "no") return false;
  return invalid(quote(value) + " is neither yes (1) nor no (0)");
}

Status set_priority(Action& action, const std::string& value, Time) {
  const auto priority = cli::parse_integer(value, 0, std::numeric_limits<std::uint32_t>::max() - 2);
  if (!priority) return fail(priority.error());
  action.set_priority(static_cast<std::uint32_t>(*priority));
  return {};
}

// "+5" and "-5" change the limit that each job has, others replace it.
Status set_limit(Action& action, const std::string& value, Time) {
  const bool less = value.starts_with('-');
  if (less || value.starts_with('+')) {
    const auto by = parse_time_limit(value.substr(1));
    if (!by) return fail(by.error());
    if (!*by || (*by)->count() <= 0) return invalid(quote(value) + " is no change of a limit");
    action.set_time_limit_change(less ? -(*by)->count() : (*by)->count());
    return {};
  }
  const auto limit = parse_time_limit(value);
  if (!limit) return fail(limit.error());
  action.set_time_limit(*limit ? (*limit)->count() : 0);
  return {};
}

Status set_throttle(Action& action, const std::string& value, Time) {
  const auto most = cli::parse_integer(value, 0, 1'000'000'000);
  if (!most) return fail(most.error());
  action.set_array_throttle(static_cast<std::uint32_t>(*most));
  return {};
}

Status set_begin(Action& action, const std::string& value, Time now) {
  action.add_fields("begin");
  if (cli::lower(value) == "now") return {};
  return cli::set_begin(*action.mutable_values(), value, now);
}

Status set_deadline(Action& action, const std::string& value, Time now) {
  action.add_fields("deadline");
  return value.empty() ? Status{} : cli::set_deadline(*action.mutable_values(), value, now);
}

Status set_requeue(Action& action, const std::string& value, Time) {
  const auto may = yes_or_no(value);
  if (!may) return fail(may.error());
  action.add_fields("requeue");
  action.mutable_values()->set_requeue(*may);
  return {};
}

Status set_whole_nodes(Action& action, const std::string& value, Time) {
  changes(action, {"exclusive", "exclusive_user"});
  const std::string word = cli::lower(value);
  const bool whole = word == "exclusive" || word == "no", user = word == "user";
  if (!whole && !user && word != "yes" && word != "ok")
    return invalid(quote(value) + " is none of yes, exclusive and user");
  action.mutable_values()->set_exclusive(whole);
  action.mutable_values()->set_exclusive_user(user);
  return {};
}

// "gpu:a100:2" for "gres/gpu:a100=2", as scontrol writes generic resources.
std::string gres_of(const std::string& text) {
  std::string out;
  for (std::string item : cli::split(text, ',')) {
    for (const std::string_view prefix : {"gres/", "gres:"})
      if (item.starts_with(prefix)) item.erase(0, prefix.size());
    std::replace(item.begin(), item.end(), '=', ':');
    out += (out.empty() ? "" : ",") + item;
  }
  return out;
}

// "a100:2" for "gpu:a100:2", and "1" for "gpu": what follows the name of the only resource.
std::string gpus_of(const std::string& text) {
  constexpr std::string_view kGpu = "gpu";
  std::string out;
  for (std::string item : cli::split(gres_of(text), ',')) {
    if (item == kGpu) item = "1";
    if (item.starts_with("gpu:")) item.erase(0, kGpu.size() + 1);
    out += (out.empty() ? "" : ",") + item;
  }
  return out;
}

bool is_none(const std::string& value) {
  return value.empty() || cli::lower(value) == "none";
}

Status set_gpus_of_node(api::JobSpec& spec, const std::string& value) {
  return is_none(value) ? Status{} : cli::set_gres(spec, gres_of(value));
}
Status set_gpus_of_job(api::JobSpec& spec, const std::string& value) {
  return is_none(value) ? Status{} : cli::set_gpus_total(spec, gpus_of(value));
}
Status set_cpus_of_gpu(api::JobSpec& spec, const std::string& value) {
  if (is_none(value)) return {};
  const auto count = cli::parse_integer(gpus_of(value), 1, 1'000'000'000);
  if (!count) return invalid(quote(value) + " is not gres/gpu:COUNT");
  spec.set_cpus_per_gpu(static_cast<std::uint32_t>(*count));
  return {};
}
Status set_memory_of_gpu(api::JobSpec& spec, const std::string& value) {
  return is_none(value) ? Status{} : cli::set_memory_per_gpu(spec, gpus_of(value));
}

// Without a fraction the controller, which may know of none, takes the one away that a job had.
void names_cpus(Action& action) {
  changes(action, {"cpus_per_task"});
  if (action.values().cpu_thousandths_per_task() > 0) changes(action, {"cpu_thousandths_per_task"});
}

Status set_cpus_per_task(Action& action, const std::string& value, Time) {
  if (Status set = cli::set_cpus_per_task(*action.mutable_values(), value); !set) return set;
  names_cpus(action);
  return {};
}

// CPUs stay as they are unless they are named.
Status set_tres_per_task(Action& action, const std::string& value, Time) {
  changes(action, {"gpus_per_task", "gpu_alternatives", "alternatives_per"});
  if (is_none(value)) return {};
  api::JobSpec& spec = *action.mutable_values();
  if (Status set = submission::set_tres_per_task(spec, value); !set) return set;
  if (spec.cpus_per_task() > 0) names_cpus(action);
  return {};
}

// Rows for the texts that have a line for themselves in `show job` and may be changed at any time.
template <class Spec>
void add_texts(std::vector<Key<Action>>& rows) {
#define ARES_SPEC_FIELD(member, api_name, storage_name, kind, title, change, line)  \
  if constexpr (TextKind::kind != TextKind::none && !spec_line::line.key.empty() && \
                FieldChange::change == FieldChange::label)                          \
    rows.push_back({std::string(spec_line::line.key), "TEXT",                       \
                    "Its " title "; of running jobs too.",                          \
                    text(#api_name, &Spec::template set_##api_name<const std::string&>)});
#include "model/job/spec_fields.def"
}

// What scontrol, or another command of Ares, has as a property of jobs.
std::vector<RefusedKey> refused_keys() {
  const std::string fixed = "it is part of what was submitted; submit the job again";
  const std::string sockets = "nodes are not chosen by their sockets; set Features";
  const std::string bound =
      "tasks are bound when a step starts; give arun the option, or submit the job again";
  const std::string own_clusters = "a job stays in the cluster that it was submitted to";
  const std::string cores = "no cores are set aside for the system within a job";
  return {
      {"admincomment", "a job has one comment, and one text for programs; set Comment or Extra"},
      {"arrayinx", "the tasks of an array are part of what was submitted; cancel some of them"},
      {"burstbuffer", "there are no burst buffers; jobs copy files in their scripts"},
      {"checkpoint", fixed},
      {"clusterfeatures", own_clusters},
      {"clusters", own_clusters},
      {"command", fixed},
      {"container", fixed},
      {"containerid", fixed},
      {"containerimage", fixed},
      {"contiguous", "nodes are chosen by the partition's topology; set Switches"},
      {"corespec", cores},
      {"cpubind", bound},
      {"cpufreq", "the CPUs run as the machine has set them"},
      {"cronjob", "no job is repeated by a timetable; submit it from cron(8)"},
      {"delayboot", "no node is booted for a job"},
      {"distribution", bound},
      {"endtime", "set TimeLimit, from which the end follows"},
      {"gang", "the other members know it as it was submitted; submit them again"},
      {"gpubind", bound},
      {"gpufreq", "the GPUs run as the machine has set them"},
      {"groupid", "a job stays that of its user; submit it as the other one"},
      {"mcslabel", "jobs have no labels; OverSubscribe=user shares nodes with no other user"},
      {"membind", bound},
      {"mincpusnode", "set CPUsPerTask and TasksPerNode"},
      {"numcpus", "set NumTasks and CPUsPerTask, from which it follows"},
      {"openmode", fixed},
      {"overcommit", fixed},
      {"reboot", "an operator reboots nodes, with actl reboot"},
      {"reqcores", sockets},
      {"reqsockets", sockets},
      {"reqthreads", sockets},
      {"resetaccruetime", "a job's age counts since it could have started; set Priority"},
      {"sitefactor", "priority has no such factor; set Priority or Nice"},
      {"sparenodes", fixed},
      {"submitline", fixed},
      {"systemcomment", "the system writes no comments; set Comment or Extra"},
      {"threadspec", cores},
      {"tresbind", bound},
      {"tresfreq", "CPUs and GPUs run as the machine has set them"},
      {"trespersocket", "set TresPerNode, and GpuTopology=node for GPUs near each other"},
      {"userid", "a job stays that of its user; submit it as the other one"}};
}

Keys<Action> all_keys() {
  using Spec = api::JobSpec;
  Keys<Action> keys = {
      "a job",
      {
          {"TimeLimit",
           "LIMIT",
           "Time limit, as asub -t takes it, or a change of it: +30, -1:00:00. Owners may only "
           "lower "
           "it, of running jobs too.",
           set_limit,
           {"time"}},
          {"Priority", "NUMBER",
           "Priority, for operators. 0 holds the job as an administrator, a higher one ends such a "
           "hold.",
           set_priority},
          {"Nice", "NUMBER", "How far it steps back in the queue; owners may only raise it.",
           spec({"nice"}, cli::set_nice)},
          {"StartTime",
           "TIME",
           "Not before this time, as asub --begin takes it; now takes it back.",
           set_begin,
           {"begin", "eligibletime"}},
          {"Partition",
           "NAMES",
           "Partition, or several separated by commas.",
           spec({"partitions"}, cli::set_partitions),
           {"partitionname"}},
          {"ReservationName",
           "NAMES",
           "Reservation to run in, as asub --reservation takes it; empty for none.",
           spec_or_none({"reservations"}, cli::set_reservations),
           {"reservation"}},
          {"Dependency", "LIST",
           "Jobs to wait for, as asub -d takes them, in place of those before; empty for none.",
           spec_or_none({"dependencies", "any_dependency"}, cli::set_dependencies)},
          {"ArrayTaskThrottle", "COUNT",
           "Tasks of a whole array that may run at once; 0 for any number.", set_throttle},
          {"JobName", "NAME", "Name.", text("name", &Spec::set_name<const std::string&>), {"name"}},
          {"MailType", "LIST",
           "Events that send a mail to its user, as asub --mail-type takes them; of running jobs "
           "too.",
           spec_or_none({"mail_types"}, cli::set_mail_types)},
          {"MailUser", "ADDRESS", "Where that mail goes; empty for its owner.",
           spec_or_none({"mail_user"}, cli::set_mail_user)},
          {"Account", "NAME", "Account.", text("account", &Spec::set_account<const std::string&>)},
          {"QOS", "NAME", "Quality of service.", text("qos", &Spec::set_qos<const std::string&>)},
          {"WCKey", "NAME", "What the work is for.",
           text("wckey", &Spec::set_wckey<const std::string&>)},
          {"Signal", "[B:]SIGNAL[@SECONDS]",
           "Signal before it is ended, as asub --signal takes it; empty for none.",
           spec_or_none({"warning"}, cli::set_warning_signal)},
          {"Requeue", "yes|no", "Whether it may run again after a node failed.", set_requeue},
          {"NumNodes",
           "COUNT",
           "Nodes: a number, or LEAST-MOST.",
           spec({"min_nodes", "max_nodes", "node_counts"}, cli::set_nodes),
           {"reqnodes"}},
          {"NumTasks", "COUNT", "Tasks.", count("tasks", &Spec::set_tasks), {"reqprocs"}},
          {"CPUsPerTask",
           "COUNT",
           "CPUs for each task, as asub --cpus-per-task takes them.",
           set_cpus_per_task,
           {"cpus/task", "cpus-per-task"}},
          {"TasksPerNode",
           "COUNT",
           "Tasks on each node.",
           count("tasks_per_node", &Spec::set_tasks_per_node),
           {"ntaskspernode"}},
          {"MinMemoryNode", "SIZE", "Memory on each node, in place of any for each CPU.",
           spec({"memory_per_node", "memory_per_cpu", "memory_per_gpu"}, cli::set_memory_per_node)},
          {"MinMemoryCPU", "SIZE", "Memory for each CPU, in place of any on each node.",
           spec({"memory_per_cpu", "memory_per_node", "memory_per_gpu"}, cli::set_memory_per_cpu)},
          {"MinTmpDiskNode", "SIZE",
           "Temporary storage on each node, as asub --tmp takes it; 0 for none.",
           spec({"tmp_disk"}, cli::set_tmp_disk)},
          {"Gres", "gpu:TYPE:COUNT", "GPUs on each node, as asub --gres takes them; none for none.",
           spec_or_none({"gpus_per_node", "gpu_alternatives", "alternatives_per"}, cli::set_gres)},
          {"TresPerNode", "gres/gpu:TYPE:COUNT", "The same.",
           spec({"gpus_per_node", "gpu_alternatives", "alternatives_per"}, set_gpus_of_node)},
          {"TresPerJob",
           "gres/gpu:TYPE:COUNT",
           "GPUs on all nodes together, as asub --gpus takes them; none for none.",
           spec({"gpus_total", "gpu_alternatives", "alternatives_per"}, set_gpus_of_job),
           {"gpus"}},
          {"TresPerTask", "cpu=COUNT,gres/gpu:TYPE=COUNT",
           "GPUs of each task, and its CPUs where they are named, as asub --tres-per-task takes "
           "them; none for no GPUs.",
           set_tres_per_task},
          {"CpusPerTres",
           "gres/gpu:COUNT",
           "CPUs for each GPU, as asub --cpus-per-gpu takes them; none for none.",
           spec({"cpus_per_gpu"}, set_cpus_of_gpu),
           {"cpuspergpu"}},
          {"MemPerTres",
           "gres/gpu:SIZE",
           "Memory for each GPU, in place of any on each node or for each CPU; none for none.",
           spec({"memory_per_gpu", "memory_per_cpu", "memory_per_node"}, set_memory_of_gpu),
           {"mempergpu"}},
          {"Features", "NAMES", "Features that its nodes must have, as asub -C takes them.",
           spec_or_none({"features"}, cli::set_constraint)},
          {"Prefer", "NAMES",
           "Features that its nodes have if they can, as asub --prefer takes them; empty for none.",
           spec_or_none({"prefer"}, cli::set_prefer)},
          {"Switches",
           "COUNT[@TIME]",
           "Most leaf switches, as asub --switches takes them; 0 for any number.",
           spec({"switches", "switches_wait"}, cli::set_switches),
           {"reqswitch"}},
          {"SegmentSize", "COUNT", "Nodes of a segment, as asub --segment takes it; 0 for none.",
           spec({"segment"}, cli::set_segment)},
          {"GpuTopology", "WORD", "How its GPUs are linked, as asub --gpu-topology takes it.",
           spec({"gpu_topology"}, cli::set_gpu_topology)},
          {"MinNvlink", "COUNT", "NVLinks between every two of its GPUs; 0 for any number.",
           spec({"min_nvlink"}, cli::set_min_nvlink)},
          {"Licenses", "LIST", "Licences, as asub -L takes them; empty for none.",
           spec_or_none({"licenses", "any_license"}, cli::set_licenses)},
          {"TimeMin", "LIMIT", "The limit may be lowered to this to start it earlier.",
           spec({"time_min"}, cli::set_time_min)},
          {"Deadline", "TIME", "It is to be over by then; empty for never.", set_deadline},
          {"ReqNodeList",
           "NODES",
           "Nodes that must be among its own; empty for any.",
           spec_or_none({"required_nodes"}, cli::set_required_nodes),
           {"nodelist"}},
          {"ExcNodeList", "NODES", "Nodes that must not be among them.",
           spec_or_none({"excluded_nodes"}, cli::set_excluded_nodes)},
          {"OverSubscribe",
           "yes|exclusive|user",
           "exclusive: whole nodes. user: shared with the owner's other jobs only.",
           set_whole_nodes,
           {"shared"}},
          {"WorkDir", "DIR", "Folder to run in, an absolute path.", set_work_dir},
          {"StdIn", "FILE", "Standard input.",
           text("std_in", &Spec::set_std_in<const std::string&>)},
          {"StdOut", "FILE", "Standard output.",
           text("std_out", &Spec::set_std_out<const std::string&>)},
          {"StdErr", "FILE", "Standard error.",
           text("std_err", &Spec::set_std_err<const std::string&>)},
          {"KillOnInvalidDependent", "yes|no",
           "Whether it is cancelled once its dependency can never be met.",
           spec({"kill_on_invalid_dependency"}, cli::set_kill_on_invalid_dependency)},
      },
      {},
      refused_keys()};
  add_texts<Spec>(keys.rows);
  return keys;
}

// When a field may change, by its name in api.proto.
std::map<std::string, FieldChange, std::less<>> changes_of_fields() {
  std::map<std::string, FieldChange, std::less<>> all;
#define ARES_SPEC_FIELD(member, api_name, storage_name, kind, title, change, line) \
  all.emplace(#api_name, FieldChange::change);
#include "model/job/spec_fields.def"
  return all;
}

// The fields that a property changes; none: it is no part of what was submitted. A property that refuses "1" has
// named them before.
std::vector<std::string> fields_of(const Key<Action>& key) {
  Action scratch;
  const Status ignored = key.apply(scratch, "1", Time());
  static_cast<void>(ignored);
  return {scratch.fields().begin(), scratch.fields().end()};
}

}  // namespace

std::vector<std::string> job_change_texts() {
  const auto rules = changes_of_fields();
  std::string always, pending;
  for (const Key<Action>& key : job_keys().rows) {
    const std::vector<std::string> fields = fields_of(key);
    if (fields.empty()) continue;  // below
    const bool any_time = std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
      const auto found = rules.find(field);
      return found != rules.end() && found->second == FieldChange::label;
    });
    std::string& list = any_time ? always : pending;
    list += (list.empty() ? "" : ", ") + key.name;
  }
  std::vector<std::string> texts = {
      "A job is changed by its user, by operators and by administrators; a job of others by these "
      "two alone. Some changes are for them alone in any case.",
      "At any time: " + always + ".",
      "While it is pending: " + pending + ".",
      "TimeLimit: its user may lower it at any time; only operators raise it.",
      "Nice: its user may raise it; only operators lower it.",
      "Priority: operators only.",
      "ArrayTaskThrottle: at any time, of a whole array.",
  };
  std::map<std::string, std::string> refused;  // names by the reason
  for (const RefusedKey& key : job_keys().refused) {
    std::string& names = refused[key.why];
    names += (names.empty() ? "" : ", ") + key.name;
  }
  for (const auto& [why, names] : refused) texts.push_back("Never " + names + ": " + why + ".");
  return texts;
}

const Keys<api::JobAction>& job_keys() {
  static const Keys<Action> keys = all_keys();
  return keys;
}

}  // namespace ares::actl
