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

// Commands of scontrol that are not implemented. They are refused by name.
const std::vector<std::string> kUnbuilt = {
    "abort",  "cluster",       "completing", "errnumstr",     "fsdampeningfactor",
    "getent", "listjobs",      "listpids",   "liststeps",     "pidinfo",
    "power",  "schedloglevel", "setdebug",   "setdebugflags", "takeover",
    "token"};
const std::vector<std::string> kUnbuiltSubjects = {"assoc_mgr",   "aliases", "bbstat",
                                                   "burstbuffer", "daemons", "dwstat",
                                                   "federation",  "step",    "topology"};

bool begins_with(const Words& words, const std::vector<std::string>& prefix) {
  if (words.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i)
    if (cli::lower(words[i]) != prefix[i]) return false;
  return true;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Error unknown(const Words& words) {
  const std::string first = cli::lower(words[0]);
  std::vector<std::string> candidates;
  if (first == "show") {
    for (const Command& command : commands())
      if (command.words[0] == "show") candidates.push_back(command.words[1]);
    if (words.size() < 2)
      return {ErrorCode::invalid_argument, "show what? One of " + cli::join(candidates, ", ")};
    const std::string subject = cli::lower(words[1]);
    if (contains(kUnbuiltSubjects, subject))
      return {ErrorCode::invalid_argument, "show " + excerpt(subject) + " is not supported yet"};
    return {ErrorCode::invalid_argument, "nothing is called " + quote(words[1]) + " to show" +
                                             config::suggestion(subject, candidates)};
  }
  if (first == "write")
    return {ErrorCode::invalid_argument, "write what? Only batch_script can be written"};
  if (contains(kUnbuilt, first))
    return {ErrorCode::invalid_argument, excerpt(first) + " is not supported yet"};
  for (const Command& command : commands()) candidates.push_back(command.words[0]);
  return {ErrorCode::invalid_argument,
          "unknown command " + quote(words[0]) + config::suggestion(first, candidates)};
}

}  // namespace

Result<api::Response> Context::call(api::Request request, cli::RetryPolicy policy) {
  if (!client_) {
    auto opened = cli::open_client("actl", common, policy, flags.quiet);
    if (!opened) return fail(opened.error());
    client_.emplace(std::move(*opened));
  }
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
       "PROPERTIES OF RESERVATIONS. Without a name it gets one, which is printed. For operators.",
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
      {0, "json", "", "With show, reconfigure and topology: print JSON.",
       cli::set_flag(context.flags.json)},
      {0, "dry-run", "", "With reconfigure: only print what would change.",
       cli::set_flag(context.flags.dry_run)},
      {0, "wait", "", "With drain: wait until nothing runs on the nodes any more.",
       cli::set_flag(context.flags.wait)},
      {0, "history", "", "With show node: what happened to the nodes.",
       cli::set_flag(context.flags.history)},
      {'f', "follow", "", "With output: print what is added until the job ends.",
       cli::set_flag(context.flags.follow)},
      {'Q', "quiet", "", "Print errors only.", cli::set_flag(context.flags.quiet)},
      {0, "check", "[FILE]", "Check this configuration, or the one in use, and stop.",
       [&context](const std::string& file) -> Status {
         context.check = true;
         context.check_file = file;
         return {};
       }},
  };
  for (cli::Option& row : topology_rows(context.flags.topology))
    table.options.push_back(std::move(row));
  table.unsupported = {{'a', "all", false},     {'M', "clusters"},        {'u', "uid"},
                       {'v', "verbose", false}, {'F', "future", false},   {0, "hide", false},
                       {0, "yaml", false},      {0, "federation", false}, {0, "local", false},
                       {0, "sibling", false}};
  table.keys = {"reason", "state"};
  cli::add_common_options(table, context.common);
  return table;
}

Result<int> dispatch(Context& context, const Words& given) {
  // Unsupported words may be shortened too, so that they are refused by name. A slip must not stop
  // the controller: that word is asked for whole.
  std::set<std::string> verbs(kUnbuilt.begin(), kUnbuilt.end());
  std::set<std::string> subjects(kUnbuiltSubjects.begin(), kUnbuiltSubjects.end());
  for (const Command& command : commands()) {
    if (command.words[0] != "shutdown") verbs.insert(command.words[0]);
    if (command.words[0] == "show") subjects.insert(command.words[1]);
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

namespace {

std::vector<std::string> job_properties() {
  std::vector<std::string> texts = {
      "IDS are job numbers, arrays and their tasks: 12,15 or 12_3 or 12_[1-4]. Users may change "
      "their own jobs as far as the rows below say. A change is refused for the same reasons as a "
      "submission; then none of its properties is changed. Properties without another remark can "
      "be changed while the job is pending."};
  for (std::string& text : key_texts(job_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> partition_properties() {
  std::vector<std::string> texts = {
      "For administrators. A change is kept until ares.yaml is applied again: it survives restarts "
      "of the controller with an unchanged file, but not reconfigure, which prints what it "
      "undoes."};
  for (std::string& text : key_texts(partition_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> reservation_properties() {
  std::vector<std::string> texts = {
      "A reservation needs nodes, an end or a duration, and users or accounts, or the flag "
      "MAINT. Jobs of its users run in it when they ask for it (asub --reservation), wholly "
      "between its start and end unless it is FLEX; a job without a time limit gets the time that "
      "is left. All other jobs stay off its nodes unless they end before it begins. It is refused "
      "if a job that runs there may still run at its start, or another reservation has a node at "
      "the same time. A reservation that does not recur is deleted when it is over. One that "
      "recurs is then moved to its next occurrence, by the wall clock of the controller's time "
      "zone."};
  for (std::string& text : key_texts(reservation_keys())) texts.push_back(std::move(text));
  return texts;
}

std::vector<std::string> interactive_texts() {
  return {
      "Without a command actl reads commands, one a line, until the end of its input, exit or "
      "quit. On a terminal lines can be edited and are remembered in "
      "$XDG_STATE_HOME/ares/actl_history (~/.local/state), and the tabulator completes commands, "
      "properties, their values and the names of jobs, nodes and partitions.",
      "From a pipe or a file the first command that fails ends it: the message names the line, and "
      "the exit status is the command's. Options after a command apply to that line."};
}

}  // namespace

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "actl",
      .summary = "look into and control the cluster",
      .synopsis = {"[OPTIONS] COMMAND [ARGUMENTS]", "[OPTIONS]"},
      .description =
          {"actl shows jobs, nodes, partitions and the configuration in full, and "
           "changes them.",
           "Commands may be shortened to three letters or more, and what show is to show "
           "further, as long as they mean one thing. \"show job=12\" and \"show jobid 12\" are the "
           "same as "
           "\"show job 12\", \"hold jobid=12\" the same as \"hold 12\"; \"hold "
           "name=NAME\" holds the jobs of that name.",
           "Users may act on their own jobs; operators on everyone's and on nodes."},
      .sections = {{"Commands",
                    [] {
                      std::vector<std::string> texts;
                      for (const Command& command : commands())
                        texts.push_back(cli::join(command.words, " ") +
                                        (command.arguments.empty() ? "" : " " + command.arguments) +
                                        ": " + command.help);
                      return texts;
                    }()},
                   {"Properties of jobs", job_properties()},
                   {"Properties of nodes", key_texts(node_keys())},
                   {"Properties of reservations", reservation_properties()},
                   {"Properties of partitions", partition_properties()},
                   {"Topology of a machine", topology_texts()},
                   {"Interactive use", interactive_texts()}},
      .examples = {{"actl show job 12", "Everything about job 12."},
                   {"actl drain n[3-4] reason='fan broken'", "Let two nodes run empty."},
                   {"actl update jobid=12 timelimit=30 partition=short",
                    "Shorten a job and move it."},
                   {"actl show hostnames $ARES_JOB_NODELIST", "The nodes of the job, in a script."},
                   {"nvidia-smi topo -m | actl topology - --allocate=4 --busy=0,5",
                    "Which 4 GPUs a job would get while two are in use."},
                   {"actl --check=new.yaml", "Check a configuration before it is used."}},
      .see_also = {"aqueue(1)", "ainfo(1)", "acancel(1)", "ares.yaml(5)"}};
  return text;
}

}  // namespace ares::actl
