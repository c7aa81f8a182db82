#include "config/tables.h"

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "config/backfill_type.h"
#include "config/types.h"
#include "model/cluster/cpu_layout.h"

namespace ares::config {
namespace {

// "a100:4,h100:2": the indices continue from type to type.
Result<GpuSpec> parse_gpu_list(const std::string& text) {
  GpuSpec spec;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    const std::string item = text.substr(from, comma - from);
    const std::size_t colon = item.rfind(':');
    const std::string type = colon == std::string::npos ? "gpu" : item.substr(0, colon);
    const std::string digits = colon == std::string::npos ? item : item.substr(colon + 1);
    std::uint16_t count = 0;
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, count);
    if (type.empty() || error != std::errc{} || rest != end || spec.gpus.size() + count > 1024)
      return fail(ErrorCode::invalid_argument,
                  quote(item) + " is not TYPE:COUNT, as in a100:4 (at most 1024 on a node)");
    for (std::uint16_t i = 0; i < count; ++i)
      spec.gpus.push_back({GpuIndex(static_cast<std::uint16_t>(spec.gpus.size())), type, {}});
    from = comma + 1;
  }
  return spec;
}

std::string print_gpu_list(const std::vector<Gpu>& gpus) {
  std::string out;
  for (std::size_t i = 0; i < gpus.size();) {
    std::size_t end = i;
    while (end < gpus.size() && gpus[end].type == gpus[i].type) ++end;
    out += (out.empty() ? "" : ",") + gpus[i].type + ":" + std::to_string(end - i);
    i = end;
  }
  return out;
}

Type<PartitionLimits> partition_limits_type() {
  const std::vector<std::string> words(kPartitionLimitsNames.begin(), kPartitionLimitsNames.end());
  const auto choice = choice_type(words);
  return {choice.name,
          [words, choice](const Value& value) -> Result<PartitionLimits> {
            return choice.parse(value).map([&](const std::string& word) {
              return static_cast<PartitionLimits>(std::find(words.begin(), words.end(), word) -
                                                  words.begin());
            });
          },
          [](const PartitionLimits& limits) {
            return std::string(kPartitionLimitsNames[static_cast<std::size_t>(limits)]);
          }};
}

Type<GpuSpec> gpus_type() {
  return {"TYPE:COUNT,... | {topology: FILE}",
          [](const Value& value) -> Result<GpuSpec> {
            switch (value.kind) {
              case Value::Kind::null: return GpuSpec{};
              case Value::Kind::scalar: return parse_gpu_list(value.text);
              case Value::Kind::list: break;
              case Value::Kind::map:
                if (value.entries.size() == 1 && value.entries[0].key == "topology" &&
                    value.entries[0].value.kind == Value::Kind::scalar)
                  return GpuSpec{{}, value.entries[0].value.text};
                break;
            }
            return fail(ErrorCode::invalid_argument, "expected TYPE:COUNT,... or {topology: FILE}");
          },
          [](const GpuSpec& spec) -> std::string {
            if (!spec.topology.empty()) return "{topology: " + quote_yaml(spec.topology) + "}";
            return spec.gpus.empty() ? "" : quote_yaml(print_gpu_list(spec.gpus));
          }};
}

Type<std::vector<std::string>> unless_empty(Type<std::vector<std::string>> type) {
  return {type.name, type.parse, [print = type.print](const std::vector<std::string>& texts) {
            return texts.empty() ? std::string() : print(texts);
          }};
}

// A count or amount whose zero means "not given".
template <class T>
Type<T> unless_zero(Type<T> type) {
  return {type.name, type.parse, [print = type.print](const T& value) {
            return value == T{} ? std::string() : print(value);
          }};
}

Type<ClusterId> cluster_id_type() {
  const auto port = port_type();
  return {"1 to 65535",
          [port](const Value& value) -> Result<ClusterId> {
            return port.parse(value).map([](std::uint16_t id) { return ClusterId(id); });
          },
          [](const ClusterId& id) { return std::to_string(id.value()); }};
}

Type<IntervalSet> cpu_list_type() {
  const auto text = text_type();
  return {"CPU LIST",
          [text](const Value& value) -> Result<IntervalSet> {
            const auto given = text.parse(value);
            if (!given) return fail(given.error());
            return parse_interval_set(*given, kMaxCpuNumber);
          },
          [](const IntervalSet& set) {
            return set.empty() ? std::string() : quote_yaml(format_interval_set(set));
          }};
}

// "off" is read as "", and "" is not printed.
Type<std::string> discovery_type() {
  const auto text = text_type();
  return {"off | auto | nvml | amd | pci | FILE",
          [text](const Value& value) -> Result<std::string> {
            auto source = text.parse(value);
            if (!source || source->starts_with('/')) return source;
            if (*source == "off") return std::string();
            for (const char* known : {"auto", "nvml", "amd", "pci"})
              if (*source == known) return source;
            return fail(ErrorCode::invalid_argument,
                        quote(*source) +
                            " is none of off, auto, nvml, amd and pci, and not the "
                            "absolute path of a file");
          },
          [text](const std::string& source) { return source.empty() ? "" : text.print(source); }};
}

// Words of a connection string: appended to the database's settings, they keep the other settings.
Type<std::string> conninfo_type() {
  const auto text = text_type();
  return {"KEY=VALUE...",
          [text](const Value& value) -> Result<std::string> {
            auto given = text.parse(value);
            if (given && !given->empty() &&
                (given->find('=') == std::string::npos || given->find("://") != std::string::npos))
              return fail(ErrorCode::invalid_argument,
                          quote(*given) +
                              " is not KEY=VALUE words of a connection string, such as "
                              "\"host=replica port=5432\"");
            return given;
          },
          text.print};
}

}  // namespace

std::vector<Field<Config>> cluster_fields() {
  return {
      field<Config>(
          "cluster", [](Config& c) -> std::string& { return c.policy.cluster_name; }, name_type(),
          "Name of the cluster, as accounting and $ARES_CLUSTER_NAME show it."),
      field<Config>(
          "cluster_id", [](Config& c) -> ClusterId& { return c.policy.cluster; }, cluster_id_type(),
          "Number of the cluster, unique among clusters that share a database or a federation."),
      field<Config>(
          "licenses", [](Config & c) -> auto& { return c.policy.licenses; }, count_map_type(),
          "Licences of software that jobs ask for with asub --licenses, and how many there are of "
          "each: {matlab: 10}."),
      field<Config>("prices", &Config::prices, price_map_type(),
                    "What an hour of one of a TRES costs, in any currency, for areport's reports "
                    "of costs: {cpu: 0.02, \"gres/gpu\": 1.5}. Memory counts in MiB. A TRES that "
                    "is priced twice, as gres/gpu and as gres/gpu:a100, costs twice."),
      field<Config>("topology_file", &Config::topology_file,
                    Type<std::string>{"FILE", text_type().parse,
                                      [](const std::string& path) {
                                        return path.empty() ? path : quote_yaml(path);
                                      }},
                    "A file that describes the networks between the nodes, see TOPOLOGY FILE; "
                    "looked for beside this file unless it is absolute. Partitions name one of "
                    "its networks."),
  };
}

std::vector<Field<Config>> controller_fields() {
  const auto at = [](auto member) {
    return [member](Config & c) -> auto& {
      return c.controller.*member;
    };
  };
  return {
      field<Config>("listen", at(&ControllerConfig::listen), address_list_type(),
                    "Where the controller listens: unix:/path, tcp:HOST:PORT."),
      field<Config>("connect", at(&ControllerConfig::connect), address_list_type(),
                    "Where commands and nodes look for it, tried in this order. When not given: "
                    "the first of listen."),
      field<Config>("state_dir", at(&ControllerConfig::state_dir), text_type(),
                    "Folder for the process lock and the highest database position seen."),
      field<Config>("user", at(&ControllerConfig::user), text_type(),
                    "User, or uid, that the controller runs as. Credentials are made so that only "
                    "this user can read "
                    "them. A user that is not in /etc/passwd is given as a number."),
      field<Config>(
          "admins", at(&ControllerConfig::admins), text_list_type(),
          "Users, or uids, that may do everything. root and the controller's own user always may."),
      field<Config>("operators", at(&ControllerConfig::operators), text_list_type(),
                    "Users, or uids, that may act on everyone's jobs and on nodes."),
      field<Config>("mail_program", at(&ControllerConfig::mail_program), program_type(),
                    "What sends the mail that jobs ask for with asub --mail-type. It is run as "
                    "PROGRAM -s SUBJECT ADDRESS, with the text on its standard input, by the "
                    "controller's user. Empty: no mail is sent. notify.smtp takes its place."),
  };
}

std::vector<Field<DatabaseConfig>> database_fields() {
  return {
      field<DatabaseConfig>("host", &DatabaseConfig::host, text_type(),
                            "PostgreSQL's host. A folder means the Unix socket there; a "
                            "comma-separated list is tried in order."),
      field<DatabaseConfig>("port", &DatabaseConfig::port, port_type(), "Its port."),
      field<DatabaseConfig>("name", &DatabaseConfig::name, text_type(), "The database."),
      field<DatabaseConfig>("user", &DatabaseConfig::user, text_type(), "The database user."),
      field<DatabaseConfig>("password_file", &DatabaseConfig::password_file, text_type(),
                            "File whose first line is the password, readable by the controller's "
                            "user only. Empty: none is sent."),
      field<DatabaseConfig>(
          "accept_data_loss", &DatabaseConfig::accept_data_loss, boolean_type(),
          "Start although the database is set up so that it can lose what it confirmed "
          "(fsync=off, full_page_writes=off, several hosts without synchronous standbys)."),
      field<DatabaseConfig>(
          "reports", &DatabaseConfig::reports, conninfo_type(),
          "Where aacct, areport and aacctmgr show transactions read from: a read replica of this "
          "database, as words KEY=VALUE of a libpq connection string, such as \"host=replica "
          "port=5433\". Unspecified words default to the settings above. Results lag by the "
          "replica's replication delay. Empty, or while it is away: the database itself."),
  };
}

std::vector<Field<AuthConfig>> auth_fields() {
  return {field<AuthConfig>("munge_socket", &AuthConfig::munge_socket, text_type(),
                            "Socket of the munge daemon. Empty: munge's own default.")};
}

std::vector<Field<Policy>> policy_fields() {
  const auto duration = [](const char* name, Seconds Policy::*member, const char* help) {
    return field<Policy>(name, member, duration_type(), help);
  };
  return {
      duration("lease", &Policy::lease,
               "How long a node that cannot reach the controller keeps a requeueable job running "
               "before it freezes it."),
      duration("heartbeat", &Policy::heartbeat, "How often a node reports."),
      duration("kill_wait", &Policy::kill_wait,
               "Time between SIGTERM and SIGKILL at a time limit or cancellation."),
      duration(
          "suspend_wait", &Policy::suspend_wait,
          "Time between SIGTSTP and SIGSTOP when a job is suspended on a node that has no "
          "freezer control group; where there is one it stops at once. Also the time that a job "
          "with --checkpoint gets to save its state before it is stopped: until then jobs that "
          "get its CPUs wait on the node, so it must be shorter than prepare_timeout."),
      duration("kill_allowance", &Policy::kill_allowance,
               "Time granted to a node, after a lease has run out, to freeze or kill its jobs."),
      duration("min_job_age", &Policy::min_job_age,
               "How long the controller still knows a finished job. Afterwards aqueue and actl "
               "show job take it from "
               "accounting if it is named."),
      duration(
          "request_retention", &Policy::request_retention,
          "How long a repeated request is answered as it was the first time. None expires in the "
          "first hour of a controller."),
      duration("start_barrier", &Policy::start_barrier,
               "Time for all nodes of a job to start it once they have been told to."),
      duration("prepare_timeout", &Policy::prepare_timeout,
               "Time for all nodes of a job to prepare it."),
      duration("dead_node_timeout", &Policy::dead_node_timeout,
               "How long a node may not answer, or its machine be gone, as a node that was removed "
               "from Kubernetes, before it counts as dead, and jobs do not wait for "
               "its word any longer. Those without a lease (--no-requeue, or no freezer on the "
               "node) end as NODE_FAIL, or as what had ended them before, such as CANCELLED. If "
               "the node comes back it kills what is left of them. Jobs with a lease are requeued "
               "earlier, and nodes count as dead no earlier than that. 0: never. An operator may "
               "declare a node dead sooner: actl update node NODE state=down reason=TEXT."),
      field<Policy>(
          "master_ports", &Policy::master_ports, port_range_type(),
          "TCP ports of which each attempt with several tasks or nodes gets one, which no "
          "other attempt with the same first node has: its tasks find it in MASTER_PORT. "
          "They should lie outside of net.ipv4.ip_local_port_range of the nodes. NONE: "
          "there is no MASTER_PORT."),
      field<Policy>("enforce_partition_limits", &Policy::enforce_partition_limits,
                    partition_limits_type(),
                    "What happens to a job that is over max_time or max_nodes of a "
                    "partition when it is submitted. any: it is refused if none of its partitions "
                    "permits it. all: it is refused if one of them does not. none: it is "
                    "accepted, and waits with PartitionTimeLimit or PartitionNodeLimit until the "
                    "limit or the job is changed. With all, a job is also refused if one of its "
                    "partitions takes no new jobs; else it waits for the others. Slurm's "
                    "EnforcePartLimits."),
      duration("launch_backoff", &Policy::launch_backoff,
               "Pause after a launch that failed by a node's fault; it doubles each time."),
      duration("launch_backoff_max", &Policy::launch_backoff_max, "The longest such pause."),
      field<Policy>("launch_guard", &Policy::launch_guard, map_type(launch_guard_fields()),
                    "When a node is set aside because launches fail there: {failures: 3, window: "
                    "600, retry_after: 600}. Its keys are below."),
      duration("max_clock_offset", &Policy::max_clock_offset,
               "How far a node's clock may be from the controller's; a node beyond it is drained "
               "until its clock is right. 0: any distance."),
      field<Policy>("return_to_service", &Policy::return_to_service, count_type(),
                    "Which nodes that register are in service again. 0: none that did not answer "
                    "for longer than its leases; it is in state FAIL until actl resume. 1: those. "
                    "2: also those that an operator set down."),
      duration("resume_timeout", &Policy::resume_timeout,
               "Time for a node to register after the order to reboot; after it the node is down."),
      field<Policy>("dynamic_nodes", &Policy::dynamic_nodes, dynamic_nodes_type(),
                    "Nodes that may join without being in this file, by aresd --join: [{names: "
                    "\"cloud[1-200]\", partitions: [main], most: 50}]. Its keys are below. Only "
                    "machines with the cluster's munge key can. actl delete node removes one."),
      field<Policy>("backfill", &Policy::backfill, backfill_type(),
                    "Which jobs may start before a job that waits for nodes. none: no job of its "
                    "partition. easy: jobs that do not delay the first waiting job, or one of the "
                    "first COUNT. conservative: jobs that delay no waiting job; every waiting job "
                    "gets a planned start, within the work limit of a pass."),
      field<Policy>("backfill_of", &Policy::backfill_of, backfill_map_type(),
                    "The same for single partitions: {debug: none}."),
      field<Policy>("preemption", &Policy::preemption, map_type(preemption_fields()),
                    "Limits on preemption: {grace: 120, min_age: 600}. Its keys are below. "
                    "partitions[].preempt_mode says which jobs can be preempted."),
      field<Policy>("expedite", &Policy::expedite, map_type(expedite_fields()),
                    "Bounds of the expedited return of failed jobs (asub --requeue=expedite and "
                    "--spare-nodes): {most: 3, keep: 600}. Its keys are below."),
      field<Policy>("max_array_size", &Policy::max_array_size, count_type(1),
                    "Tasks that an array has at most; their indices may be larger."),
      field<Policy>("max_jobs", &Policy::max_jobs, count_type(1),
                    "Jobs that the controller keeps in memory."),
      field<Policy>("max_script_bytes", &Policy::max_script_bytes, size_type(),
                    "Size of the largest script accepted."),
      field<Policy>("max_environment_bytes", &Policy::max_environment_bytes, size_type(),
                    "Size of the largest environment accepted."),
      field<Policy>("requeue", &Policy::requeue_default, boolean_type(),
                    "Whether a job that says neither --requeue nor --no-requeue may run again."),
  };
}

std::vector<Field<NodeEntry>> node_fields() {
  return {
      required(field<NodeEntry>("name", &NodeEntry::names, host_list_type(),
                                "One name or a host list: n[1-4].")),
      field<NodeEntry>("cpus", &NodeEntry::cpus, unless_zero(count_type()),
                       "CPUs to hand out, with reserved_cpus. When not given, as many as the node "
                       "registers with."),
      field<NodeEntry>("memory", &NodeEntry::memory, unless_zero(memory_type()),
                       "Memory to hand out, with reserved_memory. When not given, as much as the "
                       "node registers with."),
      field<NodeEntry>("gpus", &NodeEntry::gpus, gpus_type(),
                       "GPUs in the order of their indices; or a file on the node, with what "
                       "nvidia-smi topo -m prints there, from which "
                       "aresd takes the GPUs and how they are linked."),
      field<NodeEntry>("features", &NodeEntry::features, unless_empty(text_list_type()),
                       "Words that --constraint can ask for."),
      field<NodeEntry>("gpu_devices", &NodeEntry::gpu_devices, unless_empty(text_list_type()),
                       "Device files of the GPUs, in the order of their indices; several of one "
                       "GPU are separated by commas. Jobs without the GPU cannot open them, where "
                       "aresd may write to control groups. When not given, those of NVIDIA's "
                       "driver."),
      field<NodeEntry>("gpu_discovery", &NodeEntry::gpu_discovery, discovery_type(),
                       "How aresd finds the GPUs of the machine when it starts, with their links, "
                       "nearest CPUs and device files: by the library of NVIDIA's driver (nvml), "
                       "by what the kernel knows of AMD's GPUs (amd) or of all GPUs (pci), or from "
                       "a file. auto: nvml, else amd, else none. off, the default: what gpus says "
                       "is not compared with the machine. With both, gpus says which GPUs the node "
                       "offers and under which types; it is drained if some of them are not found. "
                       "See ares-gpu-discovery(7)."),
      field<NodeEntry>("reserved_cpus", &NodeEntry::reserved_cpus, cpu_list_type(),
                       "CPUs that are set aside for the system, by the numbers of the kernel: "
                       "\"0-1,32-33\". No job gets them; aresd and other daemons are not bound. "
                       "See ares-node(7)."),
      field<NodeEntry>("reserved_memory", &NodeEntry::reserved_memory, unless_zero(memory_type()),
                       "Memory that is set aside for the system: no job gets it."),
      field<NodeEntry>("restricted_cores_per_gpu", &NodeEntry::restricted_cores_per_gpu,
                       unless_zero(count_type()),
                       "Cores that the node keeps for jobs with GPUs: so many for each of its "
                       "GPUs, of those near it. Other jobs do not get them, unless they take whole "
                       "nodes. See ares-node(7). When not given: none."),
      field<NodeEntry>("tmp_disk", &NodeEntry::tmp_disk, unless_zero(memory_type()),
                       "Temporary storage to hand out, such as the size of the disk of /tmp. Jobs "
                       "that ask for some with --tmp share it: a job starts where enough is left. "
                       "Nothing keeps a job within what it asked for. When not given, --tmp is not "
                       "counted on the node, and chooses nothing there."),
  };
}

std::vector<Field<Preemption>> preemption_fields() {
  using P = Preemption;
  return {
      field<P>("by_qos", &P::by_qos, boolean_type(),
               "Also let a job preempt others of its partition (unless its preempt_mode is off) "
               "whose QOS has a priority that is lower by min_gap. QOS that name the QOS they "
               "preempt (aacctmgr, Preempt) do not need this switch; QOS priority is ignored for "
               "their jobs, as preemptor and as victim."),
      field<P>("min_gap", &P::min_gap, count_type(1),
               "The least difference of priorities, with by_qos."),
      field<P>("min_age", &P::min_age, duration_type(),
               "How long a job has run before it can be preempted, unless its QOS says so."),
      field<P>("grace", &P::grace, duration_type(),
               "Time between a preempted job's SIGTERM and SIGKILL, unless its QOS says so."),
      field<P>("per_hour", &P::per_hour, count_type(),
               "Jobs that may be preempted within an hour for the jobs of one user. 0: no limit."),
      field<P>("per_day", &P::per_day, count_type(), "The same within a day."),
  };
}

std::vector<Field<LogConfig>> log_fields() {
  return {
      field<LogConfig>("level", &LogConfig::level,
                       choice_type({"trace", "debug", "info", "warn", "error"}),
                       "Least important messages to write."),
      field<LogConfig>("file", &LogConfig::file, text_type(),
                       "File to write to. Empty: standard error."),
  };
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all = {
      {"controller", "The controller, aresctld."},
      {"database", "The PostgreSQL database that holds all state."},
      {"archive",
       "Old accounting, moved to files that aacctmgr(1) loads back. See ares-backup(7)."},
      {"retention",
       "How long the database keeps records that nothing else bounds. What is older is removed "
       "while "
       "the controller works, once a day and when one of these keys changes. PostgreSQL uses the "
       "space "
       "again; only days of the journal give it back to the file system."},
      {"checkpoint",
       "Where checkpoints can be kept besides directories. Read by acheckpoint on the nodes. See "
       "ares-checkpoint(7)."},
      {"notify",
       "How the controller tells users about their jobs: a mail server, and webhooks that users "
       "choose by name. See ares-notify(7)."},
      {"submit_hook",
       "Rules of the site for submissions and changes of jobs, as a script in Lua. See "
       "ares-submit-hook(7)."},
      {"auth", "How users are recognised."},
      {"accounting", "Accounts, users and QOS: aacctmgr(1) administers them."},
      {"policy",
       "Rules and time spans. Durations are plain seconds or written as minutes:seconds, "
       "hours:minutes:seconds or days-hours[:minutes[:seconds]]."},
      {"nodes",
       "A list; each item describes one node or, with a host list, many that are alike. At most "
       "200,000 nodes with 2,000,000 GPUs."},
      {"partitions",
       "A list of queues over those nodes, at most 2,000,000 members of all together. Plain "
       "numbers "
       "in time limits are minutes, as with asub -t."},
      {"fairness",
       "The order in which jobs are served: queue policies, and the shares and usage they use. Not "
       "given: by priority, nice and age everywhere."},
      {"scheduler", "What the site adds to the scheduler. Read by the controller only."},
      {"node", "The node daemon, aresd."},
      {"log", "What daemons write."},
  };
  return all;
}

}  // namespace ares::config
