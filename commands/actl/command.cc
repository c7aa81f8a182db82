#include "actl/command.h"

#include <algorithm>
#include <cstdio>

#include "cli/text.h"
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

// Known from scontrol and refused by name until they are built.
const std::vector<std::string> kUnbuilt = {
    "abort",         "cancel_reboot", "cluster",       "completing",
    "create",        "delete",        "errnumstr",     "fsdampeningfactor",
    "getent",        "listjobs",      "listpids",      "liststeps",
    "notify",        "pidinfo",       "power",         "reboot",
    "reconfigure",   "resume_job",    "schedloglevel", "setdebug",
    "setdebugflags", "suspend",       "takeover",      "token",
    "top",           "uhold",         "wait_job",      "write"};
const std::vector<std::string> kUnbuiltSubjects = {
    "assoc_mgr",  "aliases",  "bbstat",      "burstbuffer", "daemons", "dwstat",
    "federation", "licenses", "reservation", "step",        "topology"};

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
      return {ErrorCode::invalid_argument, "show " + subject + " is not supported yet"};
    return {ErrorCode::invalid_argument, "nothing is called \"" + words[1] + "\" to show" +
                                             config::suggestion(subject, candidates)};
  }
  if (contains(kUnbuilt, first))
    return {ErrorCode::invalid_argument, first + " is not supported yet"};
  for (const Command& command : commands()) candidates.push_back(command.words[0]);
  return {ErrorCode::invalid_argument,
          "unknown command \"" + words[0] + "\"" + config::suggestion(first, candidates)};
}

}  // namespace

Result<api::Response> Context::call(api::Request request, cli::Patience patience) {
  if (!client_) {
    auto opened = cli::open_client("actl", common, patience, quiet);
    if (!opened) return fail(opened.error());
    client_.emplace(std::move(*opened));
  }
  return client_->call(std::move(request), patience == cli::Patience::none
                                               ? rpc::Retry::never
                                               : rpc::Retry::unavailable);
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {{"show", "job"},
       "[IDS]",
       "Everything known about jobs that have not been forgotten.",
       show_jobs},
      {{"show", "jobs"}, "[IDS]", "The same.", show_jobs},
      {{"show", "node"}, "[NODES]", "Everything known about nodes.", show_nodes},
      {{"show", "nodes"}, "[NODES]", "The same.", show_nodes},
      {{"show", "partition"}, "[NAMES]", "Everything known about partitions.", show_partitions},
      {{"show", "partitions"}, "[NAMES]", "The same.", show_partitions},
      {{"show", "config"}, "", "The configuration in force, defaults filled in.", show_config},
      {{"show", "hostnames"},
       "[LIST]",
       "The names of a host list, one a line; without a list that of $ARES_JOB_NODELIST.",
       show_host_names},
      {{"show", "hostlist"}, "NAMES", "The host list of names.", show_host_list},
      {{"hold"}, "IDS", "Keep pending jobs from starting.", jobs(api::JobAction::HOLD)},
      {{"release"}, "IDS", "Let held jobs start again.", jobs(api::JobAction::RELEASE)},
      {{"requeue"},
       "IDS",
       "End running jobs and run them again under the same id.",
       jobs(api::JobAction::REQUEUE)},
      {{"requeuehold"}, "IDS", "The same, and hold them then.", jobs(api::JobAction::REQUEUE_HOLD)},
      {{"update"},
       "jobid=IDS priority=NUMBER timelimit=LIMIT",
       "Change jobs. Users may shorten the time limit of their own.",
       update},
      {{"update"}, "nodename=NODES state=drain|resume|down reason=TEXT", "Change nodes.", update},
      {{"drain"},
       "NODES reason=TEXT",
       "Start nothing more on nodes; what runs there runs on.",
       nodes(api::UpdateNode::DRAIN)},
      {{"resume"}, "NODES", "Use drained nodes again.", nodes(api::UpdateNode::RESUME)},
      {{"down"},
       "NODES reason=TEXT",
       "Take nodes out of service; their jobs end or run again elsewhere.",
       nodes(api::UpdateNode::DOWN)},
      {{"ping"}, "", "Whether the controller answers, and how the cluster stands.", ping},
      {{"shutdown"}, "", "Stop the controller; running jobs run on.", shut_down},
      {{"check"},
       "[FILE]",
       "Check a configuration without using it; the same as --check.",
       check_config},
  };
  return all;
}

cli::OptionTable options(Context& context) {
  cli::OptionTable table;
  table.options = {
      {'o', "oneliner", "", "Print each job, node or partition on one line.",
       cli::set_flag(context.one_line)},
      {0, "json", "", "With show job, node and partition: print JSON.",
       cli::set_flag(context.json)},
      {'Q', "quiet", "", "Print errors only.", cli::set_flag(context.quiet)},
      {0, "check", "[FILE]", "Check this configuration, or the one in use, and stop.",
       [&context](const std::string& file) -> Status {
         context.check = true;
         context.check_file = file;
         return {};
       }},
  };
  table.unbuilt = {{'a', "all", false}, {'d', "details", false}, {'M', "clusters"},
                   {'u', "uid"},        {'v', "verbose", false}, {'F', "future", false},
                   {0, "hide", false},  {0, "yaml", false},      {0, "federation", false},
                   {0, "local", false}, {0, "sibling", false}};
  cli::add_common_options(table, context.common);
  return table;
}

Result<int> dispatch(Context& context, const Words& words) {
  const Command* best = nullptr;
  for (const Command& command : commands())
    if (begins_with(words, command.words) && (!best || command.words.size() > best->words.size()))
      best = &command;
  if (!best) return fail(unknown(words));
  const auto after = static_cast<std::ptrdiff_t>(best->words.size());
  return best->run(context, Words(words.begin() + after, words.end()));
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "actl",
      .summary = "look into and control the cluster",
      .synopsis = {"[OPTIONS] COMMAND [ARGUMENTS]", "[OPTIONS]"},
      .description = {"actl shows jobs, nodes, partitions and the configuration in full, and "
                      "changes them. Without a command it "
                      "reads commands from standard input, one a line, until its end or quit.",
                      "Users may act on their own jobs; operators on everyone's and on nodes."},
      .sections = {{"Commands",
                    [] {
                      std::vector<std::string> texts;
                      for (const Command& command : commands())
                        texts.push_back(cli::join(command.words, " ") +
                                        (command.arguments.empty() ? "" : " " + command.arguments) +
                                        ": " + command.help);
                      return texts;
                    }()}},
      .examples = {{"actl show job 12", "Everything about job 12."},
                   {"actl drain n[3-4] reason='fan broken'", "Let two nodes run empty."},
                   {"actl update jobid=12 timelimit=30", "Shorten a job to thirty minutes."},
                   {"actl show hostnames $ARES_JOB_NODELIST", "The nodes of the job, in a script."},
                   {"actl --check=new.yaml", "Check a configuration before it is used."}},
      .see_also = {"aqueue(1)", "ainfo(1)", "acancel(1)", "ares.yaml(5)"}};
  return text;
}

}  // namespace ares::actl
