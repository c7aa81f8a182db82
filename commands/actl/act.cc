// Commands that act on jobs, nodes and the controller.
#include <cstdio>
#include <string_view>
#include <utility>

#include "actl/assign.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "config/config.h"
#include "model/job/job.h"

namespace ares::actl {
namespace {

// From here on `ping` shows how far the controller's time is from its machine's clock.
constexpr Seconds kClockDifference{10};

// Job ids such as "12_[1-4]" begin with a digit and contain no letters. Node names contain a
// letter.
bool names_jobs(const std::string& word) {
  return word.find_first_not_of("0123456789_,[]-") == std::string::npos;
}

}  // namespace

Status add_jobs(const std::string& word, api::JobSelector& jobs) {
  const std::size_t equals = word.find('=');
  const std::string key = equals == std::string::npos ? "" : cli::lower(word.substr(0, equals));
  const std::string value = equals == std::string::npos ? word : word.substr(equals + 1);
  if (key == "name" || key == "jobname") {
    if (value.empty() || jobs.jobs_size() > 0 || !jobs.name().empty())
      return invalid("name the jobs by one name, or by their ids");
    jobs.set_name(value);
    return {};
  }
  if (!key.empty() && key != "jobid" && key != "job")
    return invalid("unknown " + quote(key) + "; name the jobs by their ids, or by name=NAME");
  if (!jobs.name().empty()) return invalid("name the jobs by one name, or by their ids");
  const auto keys = cli::parse_job_ids(value);
  if (!keys) return fail(keys.error());
  cli::add_refs(jobs.mutable_jobs(), *keys);
  return {};
}

Result<int> act_on_jobs(Context& context, api::JobAction::Kind kind, const Words& operands) {
  api::Request request;
  api::JobAction& action = *request.mutable_job_action();
  action.set_kind(kind);
  Words ids = operands;
  const bool holds = kind == api::JobAction::REQUEUE_HOLD;
  const bool requeues = kind == api::JobAction::REQUEUE || holds;
  for (; requeues && !ids.empty(); ids.erase(ids.begin())) {
    const std::string word = cli::lower(ids.front());
    if (word == "incomplete")
      action.set_incomplete(true);
    else if (holds && word == "state=specialexit")
      action.set_special_exit(true);
    else if (holds && word.starts_with("state="))
      return invalid(excerpt(ids.front()) + ": the only state to hold jobs in is SpecialExit");
    else
      break;
  }
  if (ids.empty()) return invalid("name the jobs by their ids");
  for (const std::string& word : ids)
    if (Status added = add_jobs(word, *action.mutable_jobs()); !added) return fail(added.error());
  return context.change(request);
}

Result<int> act_on_nodes(Context& context, api::UpdateNode::Kind kind, const Words& operands) {
  if (operands.empty() || operands[0].find('=') != std::string::npos)
    return invalid("name the nodes first");
  if (kind == api::UpdateNode::RESUME && names_jobs(operands[0]))
    return act_on_jobs(context, api::JobAction::RESUME, operands);
  const auto rest = assignments(Words(operands.begin() + 1, operands.end()));
  if (!rest) return fail(rest.error());
  api::UpdateNode update;
  update.set_kind(kind);
  update.set_nodes(operands[0]);
  for (const Assignment& one : *rest) {
    if (one.key != "reason")
      return invalid("unknown " + quote(one.key) + "; only reason= is understood here");
    update.set_reason(one.value);
  }
  const bool waits = kind == api::UpdateNode::DRAIN && context.flags.wait;
  // Without a reason it only waits for nodes that are drained already.
  if (waits && update.reason().empty()) return wait_until_drained(context, operands[0]);
  auto done = send_node_update(context, update);
  if (!done || !waits) return done;
  return wait_until_drained(context, operands[0]);
}

Result<int> ping(Context& context, const Words&) {
  api::Request request;
  request.mutable_ping();
  const auto response = context.call(request, cli::RetryPolicy::none);
  if (!response) return fail(response.error());
  const api::Pong& pong = response->pong();
  if (context.flags.quiet) return 0;
  std::printf(
      "aresctld%s%s of cluster %s is UP (%s), epoch %ju, lsn %ju: %u of %u nodes answer, %u jobs "
      "pending, %u running\n",
      pong.host().empty() ? "" : " on ", pong.host().c_str(), pong.cluster().c_str(),
      pong.state().c_str(), static_cast<uintmax_t>(pong.epoch()),
      static_cast<uintmax_t>(pong.lsn()), pong.nodes_responding(), pong.nodes(),
      pong.jobs_pending(), pong.jobs_running());
  const auto ahead = std::chrono::duration_cast<Seconds>(Duration(pong.clock_ahead()));
  if (std::chrono::abs(ahead) >= kClockDifference)
    std::printf("its time is %s %s the clock of its machine and approaches it by 1 %%\n",
                format_duration(std::chrono::abs(ahead)).c_str(),
                ahead > Seconds{0} ? "ahead of" : "behind");
  if (!pong.plugins_set_aside().empty())
    std::printf("%s; see actl show plugins\n", printable(pong.plugins_set_aside()).c_str());
  return 0;
}

Result<int> show_version(Context&, const Words& operands) {
  if (!operands.empty()) return invalid("version takes no argument");
  std::puts("actl " ARES_VERSION);
  return 0;
}

Result<int> help(Context&, const Words& operands) {
  bool any = false;
  for (const Command& command : commands()) {
    const std::string name = cli::join(command.words, " ");
    if (!name.starts_with(cli::lower(cli::join(operands, " ")))) continue;
    std::printf("%s%s%s\n    %s\n", name.c_str(), command.arguments.empty() ? "" : " ",
                command.arguments.c_str(), command.help.c_str());
    any = true;
  }
  if (!any) return invalid("no command begins with \"" + cli::join(operands, " ") + "\"");
  if (operands.empty()) std::puts("exit, quit\n    Leave.");
  return 0;
}

// scontrol's levels by name and number, and those of ares.yaml.
Result<std::string> log_level(const std::string& word) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"quiet", "error"},  {"fatal", "error"},  {"error", "error"},  {"warn", "warn"},
      {"info", "info"},    {"verbose", "info"}, {"debug", "debug"},  {"debug2", "trace"},
      {"debug3", "trace"}, {"debug4", "trace"}, {"debug5", "trace"}, {"trace", "trace"}};
  constexpr std::string_view kNumbers[] = {"error", "error", "error", "info",  "info",
                                           "debug", "trace", "trace", "trace", "trace"};
  const std::string name = cli::lower(word);
  if (name.size() == 1 && name[0] >= '0' && name[0] <= '9')
    return std::string(kNumbers[name[0] - '0']);
  for (const auto& [of_scontrol, ours] : kNames)
    if (name == of_scontrol) return std::string(ours);
  return invalid(quote(word) +
                 " is no level; use trace, debug, info, warn or error, or one of scontrol: quiet, "
                 "fatal, verbose, debug2 to debug5, or its number, 0 to 9");
}

Result<int> set_log_level(Context& context, const Words& operands) {
  if (operands.size() != 1)
    return invalid(
        "name one level: actl setdebug debug; the log of one node's aresd follows "
        "log.level of its ares.yaml when it is started again");
  const auto level = log_level(operands[0]);
  if (!level) return fail(level.error());
  api::Request request;
  request.mutable_set_log_level()->set_level(*level);
  return context.change(request);
}

Result<int> shut_down(Context& context, const Words& operands) {
  if (!operands.empty()) return invalid("shutdown takes no argument");
  api::Request request;
  request.mutable_shutdown();
  return context.change(request, cli::RetryPolicy::none);
}

Result<int> check_config(Context& context, const Words& operands) {
  const std::string path =
      config::default_path(operands.empty() ? context.common.config : operands[0]);
  const auto config = config::load(path);
  if (!config) return fail(config.error());
  if (!context.flags.quiet)
    std::printf("%s: good; cluster %s, nodes: %zu, partitions: %zu\n", path.c_str(),
                config->policy.cluster_name.c_str(), config->nodes.size(),
                config->partitions.size());
  return 0;
}

Result<int> wait_for_start(Context& context, const Words& operands) {
  api::Request request;
  api::JobSelector named;
  if (operands.size() != 1) return invalid("name one job: actl wait_job 12");
  if (Status added = add_jobs(operands.front(), named); !added) return fail(added.error());
  if (named.jobs_size() != 1) return invalid("name one job: actl wait_job 12");
  constexpr std::uint32_t kPollSeconds = 30;  // the controller answers sooner if it has started
  api::WaitJob& wait = *request.mutable_wait_job();
  *wait.mutable_job() = named.jobs(0);
  wait.set_seconds(kPollSeconds);
  wait.set_start(true);
  for (;;) {
    request.clear_request_id();
    const auto response = context.call(request);
    if (!response) return fail(response.error());
    std::string ended;  // the state of one, if all have ended
    bool waits = false;
    for (const api::Job& job : response->jobs().jobs()) {
      const auto state = parse_job_state(job.state());
      const bool over = state && is_terminal(*state);
      const bool holds = state && holds_resources(*state) && *state != JobState::configuring;
      if (holds || (over && job.started() != 0)) return 0;
      waits = waits || !over;
      ended = job.state();
    }
    if (!waits && !ended.empty())
      return fail(ErrorCode::failed_precondition,
                  "job " + operands.front() + " ended before it started: " + ended);
  }
}

}  // namespace ares::actl
