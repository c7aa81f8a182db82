#include <functional>

#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/values/binding_values.h"
#include "cli/values/spec_values.h"
#include "submission/container_options.h"
#include "submission/hint_options.h"
#include "submission/refused_options.h"
#include "submission/submission.h"
#include "submission/translated_options.h"

namespace ares::submission {
namespace {

using namespace cli;  // Option values.
using Apply = std::function<Status(const std::string&)>;
using SpecText = void (api::JobSpec::*)(const std::string&);
using SpecCount = void (api::JobSpec::*)(std::uint32_t);

class Rows {
 public:
  Rows(Submission& target, Time now) : s_(target), now_(now) {}

  cli::OptionTable table() && {
    who();
    what();
    binding();
    where();
    when();
    files();
    command();
    for (cli::Option& row : container_options(s_)) table_.options.push_back(std::move(row));
    for (cli::Option& row : hint_options(s_)) table_.options.push_back(std::move(row));
    for (cli::Option& row : translated_options(s_)) table_.options.push_back(std::move(row));
    table_.unsupported = refused_options();
    table_.environment_prefix = "ASUB_";
    table_.stop_at_operand = true;
    cli::add_common_options(table_, s_.common);
    return std::move(table_);
  }

 private:
  cli::Option& add(char letter, const char* name, const char* argument, const char* help,
                   Apply apply) {
    return table_.options.emplace_back(cli::Option{letter, name, argument, help, std::move(apply)});
  }
  Apply text(SpecText setter) {
    return [this_spec = &s_.spec, setter](const std::string& value) -> Status {
      (this_spec->*setter)(value);
      return {};
    };
  }
  // "none" stands for /dev/null, as in Slurm.
  Apply file(SpecText setter) {
    return [this_spec = &s_.spec, setter](const std::string& value) -> Status {
      (this_spec->*setter)(cli::lower(value) == "none" ? "/dev/null" : value);
      return {};
    };
  }
  Apply count(SpecCount setter) {
    return [this_spec = &s_.spec, setter](const std::string& value) -> Status {
      const auto number = cli::parse_integer(value, 1, 1'000'000'000);
      if (!number) return fail(number.error());
      (this_spec->*setter)(static_cast<std::uint32_t>(*number));
      return {};
    };
  }
  Apply spec(Status (*set)(api::JobSpec&, const std::string&)) {
    return [this_spec = &s_.spec, set](const std::string& value) { return set(*this_spec, value); };
  }
  // Marks an option that is only allowed on the command line.
  void command_line_only(cli::Option& option) {
    option.directive = false;
    option.environment = false;
  }

  void who() {
    add('A', "account", "NAME", "Charge the job to this account.",
        text(&api::JobSpec::set_account<const std::string&>));
    add('q', "qos", "NAME", "Run under this quality of service.",
        text(&api::JobSpec::set_qos<const std::string&>));
    add(0, "wckey", "NAME",
        "A label for the purpose of the work, across accounts: usage is counted and reported by "
        "it. Default: the user's default wckey.",
        text(&api::JobSpec::set_wckey<const std::string&>));
    add('J', "job-name", "NAME", "Name of the job. Default: the script's name, or wrap, or asub.",
        text(&api::JobSpec::set_name<const std::string&>));
    add(0, "comment", "TEXT", "A text kept with the job.",
        text(&api::JobSpec::set_comment<const std::string&>));
    add(0, "extra", "TEXT",
        "A second text kept with the job, for programs, such as JSON. It chooses no nodes.",
        text(&api::JobSpec::set_extra<const std::string&>));
    add(0, "mail-type", "LIST",
        "Events that send a mail: BEGIN, END, FAIL (an end that is neither COMPLETED nor "
        "cancelled), REQUEUE (of a job that had started), INVALID_DEPEND (its dependency can never "
        "be met), ALL for these five, NONE; TIME_LIMIT (ended by it), TIME_LIMIT_50, TIME_LIMIT_80 "
        "and TIME_LIMIT_90 (per cent of it are used). The end of a job sends one mail, of the most "
        "specific kind. An array sends mail as a whole: when its first task begins, and when all "
        "tasks have ended, as FAIL if any failed. With ARRAY_TASKS each task sends its own mail; "
        "only then are there REQUEUE and the time limits. Mail that waits for its server is lost "
        "when the controller ends.",
        spec(set_mail_types));
    add(0, "mail-user", "LIST",
        "Where mail goes: an address, or several separated by commas. webhook:NAME among them is "
        "told "
        "by HTTP instead, if ares.yaml has a webhook of that name: see ares-notify(7). Default: "
        "the "
        "job's user.",
        spec(set_mail_user));
  }

  void what() {
    add('N', "nodes", "COUNT",
        "Nodes: a number, LEAST-MOST, or a list such as 2,4,8 or 1-15:4, of which the largest "
        "possible number is used; 1k is 1024. Default: as many as the tasks need.",
        spec(set_nodes));
    add(0, "spare-nodes", "COUNT",
        "This many more nodes, of the same kind, which the script is not told of. When a node of "
        "the job fails, its next attempt starts at once on the nodes that are left: see SPARE "
        "NODES.",
        count(&api::JobSpec::set_spare_nodes));
    add('n', "ntasks", "COUNT", "Tasks that the job will start: with -c, how many CPUs it gets.",
        count(&api::JobSpec::set_tasks));
    add('c', "cpus-per-task", "COUNT",
        "CPUs for each task. A fraction such as 0.5 or 1.25, with three decimals at most, or 500m: "
        "nodes that count thousandths of CPUs, as those of Kubernetes do, give exactly this, and "
        "the job finds what it has on its node in ARES_CPU_LIMIT; all others give the next whole "
        "number of CPUs to each task, as all do to the tasks of steps. Limits, accounting and "
        "listings count the CPUs of a job on each node rounded up; usage for fair share and "
        "billing counts them exactly.",
        spec(set_cpus_per_task));
    add(0, "ntasks-per-node", "COUNT", "Tasks on each node.",
        count(&api::JobSpec::set_tasks_per_node))
        .aliases = {"tasks-per-node"};
    add('O', "overcommit", "",
        "Where the tasks need more CPUs than a node has, they share all of its CPUs: -n8 -O -N1 is "
        "eight tasks on the CPUs of one node. A node that other jobs use takes no more tasks than "
        "it has free CPUs for. Without -N one node is enough. Steps of the job may have more tasks "
        "than CPUs, as with arun --overcommit. Until it starts, limits and listings count the CPUs "
        "that its tasks ask for.",
        [this_spec = &s_.spec](const std::string&) -> Status {
          this_spec->set_overcommit(true);
          return {};
        });
    add(0, "mem", "SIZE", "Memory on each node; a plain number is MiB, 0 all of the node's.",
        spec(set_memory_per_node))
        .excludes = {"mem-per-cpu", "mem-per-gpu"};
    add(0, "mem-per-cpu", "SIZE", "Memory for each CPU; a plain number is MiB.",
        spec(set_memory_per_cpu))
        .excludes = {"mem-per-gpu"};
    add(0, "mem-per-gpu", "SIZE", "Memory for each GPU; a plain number is MiB.",
        spec(set_memory_per_gpu));
    add(0, "tmp", "SIZE",
        "Temporary storage on each node; a plain number is MiB. Jobs share what a node has: "
        "tmp_disk "
        "in ares.yaml, or the ephemeral storage of a node of Kubernetes, where a pod that uses "
        "more "
        "is evicted and its job fails. On a node that does not say how much it has nothing is "
        "counted; if no node of the partition does, the job is accepted and asub says so.",
        spec(set_tmp_disk));
    add('G', "gpus", "TYPE:COUNT",
        "GPUs over all nodes; the type may be left out. Then all are of one type, unless the nodes "
        "of the partition have too few of each: then "
        "each node gives GPUs of the type that it has. Several types are separated by commas; "
        "without -N the job gets as many nodes as they need. On one node a part of one GPU as of "
        "--gres: 0.5. "
        "Alternatives as of --gres: h100:4|a100:8@1.5.",
        spec(set_gpus_total));
    add(0, "gpus-per-node", "TYPE:COUNT",
        "GPUs on each node, or a part of one as of --gres; the type may be left out.",
        spec(set_gpus_per_node))
        .excludes = {"gres"};
    add(0, "gpus-per-task", "TYPE:COUNT",
        "GPUs for each task; with -G or --gpus-per-node and without -n it says how many tasks. "
        "For a single task a part of one GPU as of --gres: 0.5.",
        spec(set_gpus_per_task));
    add(0, "cpus-per-gpu", "COUNT", "CPUs for each GPU.", count(&api::JobSpec::set_cpus_per_gpu))
        .excludes = {"cpus-per-task"};
    add(0, "gres", "gpu:TYPE:COUNT",
        "GPUs on each node; type and count may be left out. gpu:0.5, or gpu:a100:0.25, is a part "
        "of one GPU, below 1 and with three decimals at most: other jobs may use the rest; mps:50 "
        "is "
        "the same as gpu:0.5. Ares "
        "counts the parts and fills the fullest GPUs first; it does not limit the GPU memory and "
        "GPU time that a job uses. The job finds its part in ARES_GPU_FRACTION. A part cannot be "
        "combined with other GPUs, --gpu-topology, --exclusive, --cpus-per-gpu or --mem-per-gpu. "
        "Alternatives are separated by |, best first: 'gpu:h100:4|gpu:a100:8' is all of one or all "
        "of the other, whichever starts first. A cost after @ is the weight of an hour on that "
        "alternative: with gpu:a100:8@1.5 a job of 10 hours waits up to 5 hours for the others. "
        "-G, --gpus-per-node and --gpus-per-task also take alternatives, but only one of these "
        "options may have them.",
        spec(set_gres));
    add(0, "gpu-topology", "WORD",
        "How the job's GPUs on each node are linked, all of them together: any (as near to each "
        "other as the free ones are, the default), nvlink (all connected through NVLinks), switch "
        "(every two directly, by equally many NVLinks), pix (below one PCIe switch), node (near "
        "the same NUMA node). The job waits for GPUs that are linked this way, and is refused if "
        "no node has them.",
        spec(set_gpu_topology));
    add(0, "min-nvlink", "COUNT",
        "Every two of the job's GPUs on a node are joined directly by at least so many NVLinks.",
        spec(set_min_nvlink));
    add('L', "licenses", "NAMES",
        "Licences to hold while the job runs: matlab:2,ansys for both, matlab|ansys for either.",
        spec(set_licenses))
        .aliases = {"license"};
    add('C', "constraint", "FEATURES",
        "Only nodes with these features: fast&big for both, fast|big for either, (a|b)&c; "
        "[r1|r2] for the same one on all nodes; fast*4&big*2 for so many nodes of each.",
        spec(set_constraint));
    add(0, "prefer", "FEATURES",
        "Nodes with these features, as -C takes them, if they can start the job; else any. "
        "Conditions on several nodes together, [a|b] and a*2, cannot be preferred.",
        spec(set_prefer));
    add(0, "exclusive", "[user]",
        "Whole nodes with all their CPUs and GPUs, not shared with other jobs; memory as asked "
        "for. With user: as much as asked for, on nodes where no other user's jobs run.",
        spec(set_exclusive));
  }

  // What concerns tasks only has no effect on the batch script, and says so.
  void binding() {
    add(0, "hint", "WORD",
        "How the job uses cores: nomultithread and compute_bound (one hardware thread of each "
        "core), memory_bound (one hardware thread of one core of each socket), multithread (all "
        "hardware threads, the default). Holds for the batch script and all that it starts. The "
        "job takes whole cores, and CPUs that it asks for are those that it may use: with two "
        "threads in each core -c 8 takes eight cores, 16 CPUs. On a node whose cores are not known "
        "all threads are used, and the job's standard error says so.",
        spec(set_hint))
        .excludes = {"threads-per-core"};
    add(0, "threads-per-core", "COUNT",
        "Use so many hardware threads of each core; 1 is the same as --hint=nomultithread.",
        spec(set_threads_per_core));
    add(0, "cpu-bind", "[verbose,]KIND",
        "Which of the job's CPUs a task may run on. none: no affinity is set, and the kernel still "
        "keeps the job on its CPUs (see ares-node(7)). map_cpu:LIST, mask_cpu:LIST: CPU numbers, "
        "or masks of them in hexadecimal, for the tasks in turn; map_ldom:LIST, mask_ldom:LIST: "
        "those of NUMA nodes. The batch script gets the first item of LIST; an item N*COUNT stands "
        "for COUNT tasks. cores, threads, sockets, ldoms, rank and rank_ldom are kept for the "
        "tasks that arun starts. verbose: the batch script's standard error says how it is bound.",
        spec(set_cpu_bind));
    add(0, "mem-bind", "[verbose,][prefer,]KIND",
        "Which NUMA nodes memory comes from. local: only those of the job's CPUs. map_mem:LIST, "
        "mask_mem:LIST: only these; the batch script takes the first item. prefer: others as well "
        "when these are full. none: where the CPU is that allocates. rank is for the tasks that "
        "arun starts, and so is the rest of LIST; see arun(1). Default: first from the nodes of "
        "the job's CPUs and GPUs.",
        spec(set_mem_bind));
    add(0, "gpu-bind", "[verbose,]KIND",
        "Which of the job's GPUs each task that arun starts uses: none, closest, map:LIST, "
        "mask:LIST, per_task:COUNT, single:COUNT; see arun(1). The batch script sees all GPUs of "
        "the job.",
        spec(set_gpu_bind));
    add('m', "distribution", "NODES[:SOCKETS[:CORES]][,pack|nopack]",
        "Order of tasks, kept for those that arun starts: over nodes block, cyclic, plane=SIZE or "
        "arbitrary; over sockets and cores block, cyclic or fcyclic; * is the default.",
        spec(set_distribution));
  }

  void where() {
    add('p', "partition", "NAMES",
        "Partition, or several separated by commas: the first that can start the job.",
        spec(set_partitions));
    add('w', "nodelist", "NODES",
        "Nodes that must be among those of the job, such as n[1-3], or, with a slash in its name, "
        "a file that lists them.",
        spec(set_required_nodes));
    add('x', "exclude", "NODES", "Nodes that must not be among them; a list or a file.",
        spec(set_excluded_nodes));
    add(0, "switches", "COUNT[@TIME]",
        "At most so many leaf switches (or blocks) between the nodes, as the partition's topology "
        "has them. With @TIME (minutes, or as -t takes them) only for that long: once the job has "
        "waited that long, any number is accepted.",
        spec(set_switches));
    add(0, "reservation", "NAMES",
        "Run in this reservation, or in any of several separated by commas. Without a time limit "
        "(and none of the partition) the job gets its remaining time.",
        spec(set_reservations));
    add(0, "segment", "COUNT",
        "The nodes come in segments of so many, each wholly in one block (or under one leaf "
        "switch) of the partition's topology. The number of nodes is a multiple of it.",
        spec(set_segment));
  }

  void when() {
    add('t', "time", "LIMIT",
        "Time limit: minutes, minutes:seconds, hours:minutes:seconds, "
        "days-hours[:minutes[:seconds]], rounded up to minutes; 0 for none.",
        spec(set_time_limit));
    add(0, "time-min", "LIMIT",
        "The limit may be lowered, not below this, if the job can start earlier with less.",
        spec(set_time_min));
    add('b', "begin", "TIME",
        "Not before: now+1hour, 16:00, \"4:30 pm\", tomorrow, \"noon tomorrow\", midnight, fika, "
        "teatime, 2030-01-20T12:34, 01/20, 01/20/30-12:34, 01.20, 0120, 012030. A day without a "
        "year is the next one.",
        [this_spec = &s_.spec, now = now_](const std::string& value) {
          return set_begin(*this_spec, value, now);
        });
    add(0, "deadline", "TIME",
        "The job must end by then: it is refused if it cannot, and is ended in state DEADLINE at "
        "that time.",
        [this_spec = &s_.spec, now = now_](const std::string& value) {
          return set_deadline(*this_spec, value, now);
        });
    add('d', "dependency", "LIST",
        "After other jobs: afterok:12:13,afterany:14. Kinds: after (has started; with +MINUTES "
        "after the id at least that long ago), afterany (has ended), afterok, afternotok, "
        "aftercorr (task by task of two arrays), singleton (after all earlier jobs of the same "
        "name). Between kinds a comma means all, ? means any. Jobs that ended long ago count as "
        "accounting has them.",
        spec(set_dependencies));
    add(0, "kill-on-invalid-dep", "yes|no",
        "Cancel the job once its dependency can never be met, instead of leaving it pending.",
        spec(set_kill_on_invalid_dependency));
    add('a', "array", "TASKS",
        "A job array: 0-15, 1,3,5-9, 0-15:4; %N after it: run at most N at once. It takes one job "
        "number more than it has tasks: each task has a number of its own besides JOB_INDEX.",
        spec(set_array));
    add(0, "gang", "NAME",
        "Start together with the other jobs of the user that name this gang: all at once or none. "
        "See GANGS.",
        spec(set_gang));
    add(0, "gang-size", "COUNT",
        "How many members the gang has; each task of an array is one. Default: the tasks of the "
        "array.",
        spec(set_gang_size));
    add(0, "gang-min", "COUNT",
        "The least number of members: the gang continues without members that end before it "
        "starts, as long as this many are left. Default: a member that ends cancels the others.",
        spec(set_gang_min));
    add(0, "gang-timeout", "TIME",
        "Cancel the gang if it has not started this long after its first member could have "
        "started; as -t takes it, 0 for never (the default).",
        spec(set_gang_timeout));
    add('H', "hold", "", "Hold the job until it is released.",
        [this_spec = &s_.spec](const std::string&) -> Status {
          this_spec->set_hold(true);
          return {};
        });
    add(0, "priority", "NUMBER", "Priority, for operators.", spec(set_priority));
    add(0, "nice", "[NUMBER]",
        "Lower the priority by this much (100); operators may give a negative number.",
        spec(set_nice));
    add(0, "requeue", "[expedite]",
        "The job may run again after a node failed or when asked to. With expedite it also runs "
        "again when its script fails, and returns first: see RETURNING FIRST.",
        spec(set_requeue));
    add(0, "signal", "[B:]SIGNAL[@SECONDS]",
        "Warn the job before it is ended: this long before its time limit (default 60), and at "
        "once when it is preempted. The signal goes to everything that the script has started, "
        "and with B: only to the shell that runs the script. ARES_DEADLINE_FILE says when the "
        "rest is killed; see ares-node(7).",
        spec(set_warning_signal));
    add(0, "checkpoint", "DIR|s3://BUCKET/PREFIX",
        "The job saves its state itself with acheckpoint commit, in a directory of its own within "
        "DIR or under a prefix of its own in S3, and begins from there when it runs again: see "
        "ares-checkpoint(7). It is told to save "
        "its state by --signal, which is USR1@60 unless given, before its time limit, and at once "
        "when it is preempted, requeued, cancelled or suspended.",
        spec(set_checkpoint));
    add(0, "checkpoint-signal", "[B:]SIGNAL[@SECONDS]",
        "The signal by which the job is told to save its state, in the form of --signal. With it "
        "--signal is not needed.",
        spec(set_checkpoint_signal))
        .excludes = {"signal"};
    add(0, "checkpoint-keep", "COUNT",
        "How many committed checkpoints the job keeps, 1 to 16. Default: 2.",
        spec(set_checkpoint_keep));
    add(0, "no-requeue", "", "It may not.", [this_spec = &s_.spec](const std::string&) -> Status {
      this_spec->set_requeue(false);
      this_spec->set_expedite(false);
      return {};
    });
  }

  void files() {
    add('o', "output", "FILE",
        "Standard output; %j is the job's id, none stands for /dev/null. Default: ares-%j.out, of "
        "an "
        "array ares-%A_%a.out.",
        file(&api::JobSpec::set_std_out<const std::string&>));
    add('e', "error", "FILE", "Standard error. Default: where standard output goes.",
        file(&api::JobSpec::set_std_err<const std::string&>));
    add('i', "input", "FILE", "Standard input. Default: /dev/null.",
        file(&api::JobSpec::set_std_in<const std::string&>));
    add(0, "open-mode", "append|truncate",
        "What to do with output files that exist. Default: truncate.", spec(set_open_mode));
    add('D', "chdir", "DIR", "Folder to run in. Default: where asub runs.",
        text(&api::JobSpec::set_work_dir<const std::string&>))
        .aliases = {"workdir"};
    add(0, "export", "LIST",
        "Environment: ALL (the default), NONE, NIL, or variables NAME and NAME=VALUE, also behind "
        "one of these words.",
        cli::set_text(s_.export_list))
        .any_text = true;
  }

  void command() {
    cli::Option& wrap = add(0, "wrap", "COMMAND", "Run this command line instead of a script.",
                            [target = &s_](const std::string& value) -> Status {
                              target->wrap = value;
                              return {};
                            });
    wrap.any_text = true;
    command_line_only(wrap);
    command_line_only(add(
        0, "from", "FILE",
        "Submit many jobs in one call, one for each line of the file (- is standard input): a "
        "script's path, or {\"script\": PATH, \"args\": [...]} or {\"wrap\": COMMAND}, with any "
        "option by its long name. All lines are looked at before anything is submitted.",
        [target = &s_](const std::string& value) -> Status {
          target->from = value;
          return {};
        }));
    command_line_only(
        add(0, "test-only", "",
            "Check everything and say when the job would start, or, if it would wait, why "
            "and what would let it start now, but submit nothing.",
            cli::set_flag(s_.test_only)));
    add(0, "parsable", "", "Print the job's id alone.", cli::set_flag(s_.parsable));
    add('W', "wait", "",
        "Wait for the job's end and exit as it did; of an array, with the highest exit code. If "
        "standard error is a terminal, a line there says how far the job is, unless --quiet.",
        cli::set_flag(s_.wait));
    add('Q', "quiet", "", "Print errors only.", cli::set_flag(s_.quiet));
    add('v', "verbose", "", "Say on standard error what is done.", cli::set_flag(s_.verbose));
    command_line_only(
        add(0, "request-id", "ID",
            "Submit at most one job under this id, however often the command is repeated.",
            cli::set_text(s_.request_id)));
  }

  Submission& s_;
  Time now_;
  cli::OptionTable table_;
};

}  // namespace

cli::OptionTable options(Submission& target, Time now) {
  return Rows(target, now).table();
}

}  // namespace ares::submission
