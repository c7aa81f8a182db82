// The properties of jobs that `update job` can change.
#include <limits>

#include "actl/assign.h"
#include "actl/update_keys.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/text.h"
#include "cli/values/spec_values.h"
#include "model/job/spec_table.h"

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
Status set_work_dir(Action& action, const std::string& value, Time now) {
  if (!value.starts_with('/')) return invalid("it must be an absolute path");
  return text("work_dir", &api::JobSpec::set_work_dir<const std::string&>)(action, value, now);
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
  const std::string word = cli::lower(value);
  const bool whole = word == "exclusive" || word == "no", user = word == "user";
  if (!whole && !user && word != "yes" && word != "ok")
    return invalid(quote(value) + " is none of yes, exclusive and user");
  changes(action, {"exclusive", "exclusive_user"});
  action.mutable_values()->set_exclusive(whole);
  action.mutable_values()->set_exclusive_user(user);
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
           "CPUs for each task.",
           count("cpus_per_task", &Spec::set_cpus_per_task),
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
          {"Gres",
           "gpu:TYPE:COUNT",
           "GPUs on each node, as asub --gres takes them; none for none.",
           spec_or_none({"gpus_per_node", "gpu_alternatives", "alternatives_per"}, cli::set_gres),
           {"trespernode"}},
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
      {"admincomment",  "burstbuffer", "clusters",       "clusterfeatures", "contiguous",
       "corespec",      "cronjob",     "delayboot",      "endtime",         "extra",
       "mcslabel",      "mincpusnode", "mintmpdisknode", "numcpus",         "reboot",
       "reqcores",      "reqsockets",  "reqthreads",     "resetaccruetime", "sitefactor",
       "systemcomment", "threadspec",  "userid"}};
  add_texts<Spec>(keys.rows);
  return keys;
}

}  // namespace

const Keys<api::JobAction>& job_keys() {
  static const Keys<Action> keys = all_keys();
  return keys;
}

}  // namespace ares::actl
