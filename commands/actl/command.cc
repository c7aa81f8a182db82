#include "actl/command.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "actl/spelling.h"
#include "actl/update_keys.h"
#include "base/printable.h"
#include "cli/output/pages.h"
#include "cli/output/text.h"
#include "config/suggest.h"

namespace ares::actl {
namespace {

std::function<Result<int>(Context&, const Words&)> jobs(api::JobAction::Kind kind) {
  return [kind](Context& context, const Words& operands) {
    return act_on_jobs(context, kind, operands);
  };
}

std::function<Result<int>(Context&, const Words&)> nodes(api::UpdateNode::Kind kind) {
  return [kind](Context& context, const Words& operands) {
    return act_on_nodes(context, kind, operands);
  };
}

bool begins_with(const Words& words, const std::vector<std::string>& prefix) {
  if (words.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    if (cli::lower(words[i]) != prefix[i]) return false;
  return true;
}

// Why a command of scontrol is not one of ours; null: it is none of scontrol either.
const RefusedCommand* find_refused(const Words& words) {
  for (const RefusedCommand& command : refused_commands())
    if (begins_with(words, command.words)) return &command;
  return nullptr;
}

Error unknown(const Words& words) {
  const std::string first = cli::lower(words[0]);
  if (const RefusedCommand* refused = find_refused(words))
    return {ErrorCode::invalid_argument,
            cli::join(refused->words, " ") + " is not supported: " + refused->why};
  std::vector<std::string> candidates;
  if (first == "show") {
    for (const Command& command : commands())
      if (command.words[0] == "show") candidates.push_back(command.words[1]);
    if (words.size() < 2)
      return {ErrorCode::invalid_argument, "show what? One of " + cli::join(candidates, ", ")};
    const std::string subject = cli::lower(words[1]);
    return {ErrorCode::invalid_argument, "nothing is called " + quote(words[1]) + " to show" +
                                             config::suggestion(subject, candidates)};
  }
  if (first == "write")
    return {ErrorCode::invalid_argument, "write what? Only batch_script can be written"};
  for (const Command& command : commands()) candidates.push_back(command.words[0]);
  return {ErrorCode::invalid_argument,
          "unknown command " + quote(words[0]) + config::suggestion(first, candidates)};
}

}  // namespace

Result<rpc::Client*> Context::client(cli::RetryPolicy policy) {
  if (!client_) {
    auto opened = cli::open_client("actl", common, policy, flags.quiet);
    if (!opened) return fail(opened.error());
    client_.emplace(std::move(*opened));
  }
  return &*client_;
}

Result<api::Response> Context::call(api::Request request, cli::RetryPolicy policy) {
  if (const auto opened = client(policy); !opened) return fail(opened.error());
  const bool once = policy == cli::RetryPolicy::none || policy == cli::RetryPolicy::once;
  return client_->call(std::move(request), once ? rpc::Retry::never : rpc::Retry::unavailable);
}

Result<api::Response> Context::call_for_all(const api::Request& request, cli::RetryPolicy policy) {
  return cli::call_for_all(request,
                           [&](api::Request page) { return call(std::move(page), policy); });
}

Result<int> Context::change(const api::Request& request, cli::RetryPolicy policy) {
  const auto response = call(request, policy);
  if (!response) return fail(response.error());
  if (!flags.quiet && !response->acted().text().empty())
    std::printf("%s\n", response->acted().text().c_str());
  return 0;
}

const std::vector<Command>& commands() {
  using Job = api::JobAction;
  using Node = api::UpdateNode;
  static const std::vector<Command> all = {
      {{"show", "job"},
       "[IDS]",
       "Everything known about jobs that the controller still stores; with -d also their resources "
       "on each node. For the first 20 named jobs that wait also the reason, as aqueue --why "
       "prints it. A named job that the controller has forgotten (policy.min_job_age) is shown as "
       "accounting has it, with Source=accounting; with --json its id is also under \"missing\".",
       show_jobs,
       Names::jobs},
      {{"show", "jobs"}, "[IDS]", "The same.", show_jobs, Names::jobs},
      {{"show", "step"},
       "[JOB[.STEP]...]",
       "The steps that run, of all jobs or of these, as nodes told with their last heartbeats.",
       show_steps,
       Names::jobs},
      {{"show", "steps"}, "[JOB[.STEP]...]", "The same.", show_steps, Names::jobs},
      {{"show", "node"},
       "[NODES]",
       "Everything known about nodes; the state of a drained one is IDLE+DRAIN, or MIXED+DRAIN or "
       "ALLOCATED+DRAIN while jobs run there. With --history what happened to them and who did it: "
       "drained, "
       "resumed, set aside, lost, registered, launches that failed.",
       show_nodes,
       Names::nodes},
      {{"show", "nodes"}, "[NODES]", "The same.", show_nodes, Names::nodes},
      {{"show", "partition"},
       "[NAMES]",
       "Everything known about partitions.",
       show_partitions,
       Names::partitions},
      {{"show", "partitions"}, "[NAMES]", "The same.", show_partitions, Names::partitions},
      {{"show", "licenses"},
       "[NAMES]",
       "The licences of the site, and how many of each jobs have now.",
       show_licenses},
      {{"show", "reservation"},
       "[NAMES]",
       "Everything known about reservations.",
       show_reservations,
       Names::reservations},
      {{"show", "reservations"}, "[NAMES]", "The same.", show_reservations, Names::reservations},
      {{"show", "plugins"},
       "",
       "The plugins of the scheduler, and which of them are set aside because they crashed or "
       "hung.",
       show_plugins},
      {{"show", "config"}, "", "The configuration in force, defaults filled in.", show_config},
      {{"show", "hostnames"},
       "[LIST]",
       "The names of a host list, one a line; without a list that of $ARES_JOB_NODELIST.",
       show_host_names,
       Names::nodes},
      {{"show", "hostlist"},
       "NAMES",
       "The host list of names, in their order.",
       show_host_list,
       Names::nodes},
      {{"show", "hostlistsorted"},
       "NAMES",
       "The host list of names, sorted, each once.",
       show_sorted_host_list,
       Names::nodes},
      {{"show", "topology"},
       "[NODES|NAME]",
       "The switches and blocks between nodes, and the nodes below each; of these nodes, or of the "
       "switch or block of this name, alone. It reads ares.yaml and its topology_file on this "
       "machine, and asks the controller where nodes are by their features (tree_by, block_by). "
       "The "
       "GPUs of a machine: see topology.",
       show_networks,
       Names::nodes},
      {{"show", "daemons"},
       "",
       "The daemons of Ares that belong on this machine, as its ares.yaml says.",
       show_daemons},
      {{"completing"},
       "",
       "The jobs that are ending, and the nodes on which something of them is left; of nodes that "
       "do not answer also since when, and when they count as dead.",
       show_completing},
      {{"listpids"},
       "[JOB[.STEP]] [NODE]",
       "The processes of jobs on this machine, or of this job or step: number, job, step and, of "
       "the tasks, their numbers on the node and within the step. A process counts for the job "
       "with whose variables it was started. Users see their own processes, root all.",
       list_processes,
       Names::jobs},
      {{"listjobs"},
       "[NODE]",
       "The jobs of which processes run on this machine, as listpids finds them.",
       list_jobs_here,
       Names::nodes},
      {{"liststeps"}, "[NODE]", "The same of steps.", list_steps_here, Names::nodes},
      {{"hold"},
       "IDS|name=NAME",
       "Keep pending jobs from starting. Only operators release a job that an operator holds.",
       jobs(Job::HOLD),
       Names::jobs},
      {{"uhold"},
       "IDS",
       "The same, but the jobs' owners may release them.",
       jobs(Job::USER_HOLD),
       Names::jobs},
      {{"release"}, "IDS", "Let held jobs start again.", jobs(Job::RELEASE), Names::jobs},
      {{"top"},
       "IDS",
       "Move pending jobs before the other pending jobs that their user has in the same partition, "
       "account and QOS, the first named one first. Those others step back by raised nice values, "
       "and so also behind jobs of other users; no job moves before those.",
       top,
       Names::jobs},
      {{"requeue"},
       "[incomplete] IDS",
       "Run jobs again under the same ids; running jobs are ended first. With incomplete only jobs "
       "that are not COMPLETED, such as the failed tasks of an array.",
       jobs(Job::REQUEUE),
       Names::jobs},
      {{"requeuehold"},
       "[incomplete] [state=SpecialExit] IDS",
       "The same, and hold the jobs. With state=SpecialExit they are shown as SPECIAL_EXIT (SE) "
       "until "
       "they are released, which their users may do as well.",
       jobs(Job::REQUEUE_HOLD),
       Names::jobs},
      {{"update"},
       "jobid=IDS|jobname=NAME NAME=VALUE...",
       "Change jobs, or all of a name: see PROPERTIES OF JOBS.",
       update},
      {{"update"},
       "step=JOB.STEP NAME=VALUE...",
       "Change steps that run: see PROPERTIES OF STEPS. For the job's owner and operators.",
       update},
      {{"update"},
       "nodename=NODES|ALL NAME=VALUE...",
       "Change nodes: see PROPERTIES OF NODES.",
       update},
      {{"update"},
       "partitionname=NAMES NAME=VALUE...",
       "Change partitions: see PROPERTIES OF PARTITIONS.",
       update},
      {{"update"},
       "reservationname=NAME NAME=VALUE...",
       "Change a reservation: see PROPERTIES OF RESERVATIONS.",
       update},
      {{"create"},
       "reservation [NAME] NAME=VALUE...",
       "Reserve whole nodes for users or accounts, or for maintenance, for a period: see "
       "PROPERTIES OF RESERVATIONS. Without a name it gets one, which is printed. For operators. "
       "Partitions are those of ares.yaml: create partitionname=NAME says which line to write "
       "there.",
       create},
      {{"delete"},
       "reservation NAMES",
       "Delete reservations. Jobs that run in them continue; jobs that wait for them keep waiting, "
       "with the reason ReservationDeleted, until they are updated or cancelled.",
       remove,
       Names::reservations},
      {{"delete", "node"},
       "NODES",
       "Remove nodes that joined (aresd --join) and on which nothing runs. For operators.",
       delete_nodes,
       Names::nodes},
      {{"reboot"},
       "[asap] [nextstate=resume|down] [reason=TEXT] NODES",
       "Have nodes run the site's reboot program (node.reboot_program in ares.yaml) once nothing "
       "runs there. With asap no job starts there before. A node is in service again when it "
       "registers from the new boot, in the state it had or in nextstate, and down if it does not "
       "within policy.resume_timeout. For operators.",
       reboot_nodes,
       Names::nodes},
      {{"cancel_reboot"},
       "NODES",
       "Take a reboot back that has not begun.",
       cancel_reboot,
       Names::nodes},
      {{"drain"},
       "NODES reason=TEXT",
       "Start no more jobs on nodes; running jobs continue. With --wait it lists what still runs "
       "and "
       "waits until nothing does; without a reason it only waits for nodes that are drained "
       "already.",
       nodes(Node::DRAIN),
       Names::nodes},
      {{"undrain"},
       "NODES",
       "Allow new jobs on drained nodes again.",
       nodes(Node::UNDRAIN),
       Names::nodes},
      {{"suspend"},
       "IDS",
       "Suspend running jobs. Their CPUs are released to other jobs; memory, GPUs and licenses "
       "stay allocated. Suspended time counts neither as run time nor towards the limit. For "
       "operators.",
       jobs(Job::SUSPEND),
       Names::jobs},
      {{"resume"},
       "IDS",
       "Resume suspended jobs. Refused while other jobs have their CPUs; it names them. For "
       "operators.",
       nodes(Node::RESUME),
       Names::jobs},
      {{"resume"},
       "NODES",
       "Use nodes again that are drained or down.",
       nodes(Node::RESUME),
       Names::nodes},
      {{"down"},
       "NODES reason=TEXT",
       "Take nodes out of service; their jobs end or run again elsewhere.",
       nodes(Node::DOWN),
       Names::nodes},
      {{"reconfigure"},
       "[FILE]",
       "Read the controller's ares.yaml again and print what that changes. It is checked first and "
       "applied whole or not at all; SIGHUP to aresctld does the same. With --dry-run only print "
       "it, also for another FILE.",
       reconfigure,
       Names::none,
       true},
      {{"write", "batch_script"},
       "ID [FILE|-]",
       "Write the script of a job to a file (ares-ID.sh), or to standard output.",
       write_script,
       Names::jobs,
       true},
      {{"submit-hook", "test"},
       "FILE [--] [OPTION]... SCRIPT",
       "Say what the submit hook in FILE would do if asub were called with these options and this "
       "script: what it refuses, changes and says. Nothing is submitted. ares-submit-hook(7).",
       test_submit_hook,
       Names::none,
       true},
      {{"output"},
       "ID [rank=N] [attempt=N]",
       "Print what a job has printed on a node of Kubernetes, where no file gets it; with --follow "
       "until it ends. Of one that runs on several nodes in each pod, rank says of which. Only for "
       "its owner, operators and administrators.",
       print_output,
       Names::jobs},
      {{"notify"},
       "ID MESSAGE...",
       "Write a line to the standard error of a job's batch script: \"ares: message from USER: "
       "MESSAGE\", in the file of --error, or of --output where that is the same. The words of the "
       "message are joined by blanks; it has at most 1024 bytes, and no control characters but "
       "tabulators. Only for a running job, and for its owner, operators and administrators. actl "
       "ends when the line is written. Nothing keeps it: if the node does not answer, actl says "
       "so. Jobs of aalloc, and jobs that run in a pod of Kubernetes, have no such file.",
       notify,
       Names::jobs},
      {{"wait_job"},
       "ID",
       "Wait until a job has started; the exit status is 1 if it ended before that.",
       wait_for_start,
       Names::jobs},
      {{"topology"},
       "FILE|-",
       "Show how a machine's GPUs are linked, from the output of nvidia-smi topo -m, and with "
       "--allocate which of them a request would get: see TOPOLOGY OF A MACHINE.",
       show_topology,
       Names::none,
       true},
      {{"ping"}, "", "Whether the controller answers, and the state of the cluster.", ping},
      {{"doctor"},
       "",
       "Check munge, the controller's addresses, clocks, database and release, and whether the "
       "nodes answer it; say of each problem what to do. The exit status is 1 if a check failed; "
       "a warning is none.",
       examine},
      {{"version"}, "", "The release of actl.", show_version},
      {{"help"}, "[COMMAND]", "The commands, or those that begin with a word.", help},
      {{"setdebug"},
       "LEVEL",
       "Change what the controller logs, until it is started or configured again (actl "
       "reconfigure). The level is trace, debug, info, warn or error, as log.level of ares.yaml, "
       "or one of scontrol: quiet and fatal are error, verbose is info, debug2 to debug5 are "
       "trace; the numbers 0 to 9 are those of scontrol, from quiet to debug5. For operators and "
       "administrators; the log says which user it was.",
       set_log_level},
      {{"shutdown"}, "", "Stop the controller; running jobs continue.", shut_down},
      {{"check"},
       "[FILE]",
       "Check a configuration without using it; the same as --check.",
       check_config,
       Names::none,
       true},
  };
  return all;
}

cli::OptionTable options(Context& context) {
  cli::OptionTable table;
  table.options = {
      {'o', "oneliner", "", "Print each job, node or partition on one line.",
       cli::set_flag(context.flags.one_line)},
      {'d', "details", "", "With show job: its resources on each node.",
       cli::set_flag(context.flags.details)},
      {0, "dry-run", "", "With reconfigure: only print what would change.",
       cli::set_flag(context.flags.dry_run)},
      {0, "wait", "", "With drain: wait until nothing runs on the nodes any more.",
       cli::set_flag(context.flags.wait)},
      {0, "history", "", "With show node: what happened to the nodes.",
       cli::set_flag(context.flags.history)},
      {'f', "follow", "", "With output: print what is added until the job ends.",
       cli::set_flag(context.flags.follow)},
      cli::colour_option(context.flags.colour),
      {'Q', "quiet", "", "Print errors only.", cli::set_flag(context.flags.quiet)},
      {0, "check", "[FILE]", "Check this configuration, or the one in use, and stop.",
       [&context](const std::string& file) -> Status {
         context.check = true;
         context.check_file = file;
         return {};
       }},
  };
  cli::add_document_options(table.options, context.flags.document,
                            "With show, reconfigure and topology: print JSON.");
  for (cli::Option& row : topology_rows(context.flags.topology))
    table.options.push_back(std::move(row));
  table.unsupported = {{'a', "all", false},      {'M', "clusters"},      {'u', "uid"},
                       {'v', "verbose", false},  {'F', "future", false}, {0, "hide", false},
                       {0, "federation", false}, {0, "local", false},    {0, "sibling", false}};
  table.keys = {"reason", "state"};
  cli::add_common_options(table, context.common);
  return table;
}

Result<int> dispatch(Context& context, const Words& given) {
  // Unsupported words may be shortened too, so that they are refused by name. A slip must not stop
  // the controller: that word is asked for whole.
  std::set<std::string> verbs, subjects;
  const auto learn = [&](const std::vector<std::string>& words) {
    verbs.insert(words[0]);
    if (words[0] == "show") subjects.insert(words[1]);
  };
  for (const RefusedCommand& command : refused_commands()) learn(command.words);
  for (const Command& command : commands()) {
    if (command.words[0] != "shutdown") learn(command.words);
  }
  const Words words = spelled_out(given, verbs, subjects);
  const Command* best = nullptr;
  for (const Command& command : commands())
    if (begins_with(words, command.words) && (!best || command.words.size() > best->words.size()))
      best = &command;
  if (!best) return fail(unknown(words));
  if (!best->takes_file)
    if (Status text = cli::refuse_invalid_utf8(words); !text) return fail(text.error());
  const auto after = static_cast<std::ptrdiff_t>(best->words.size());
  return best->run(context, Words(words.begin() + after, words.end()));
}

}  // namespace ares::actl
