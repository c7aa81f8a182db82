#include "acancel/selection.h"

#include <csignal>
#include <cstring>

#include "base/hostlist.h"
#include "cli/job_ids.h"
#include "cli/text.h"
#include "model/job.h"

namespace ares::acancel {
namespace {

using FilterText = void (api::JobSelector::*)(const std::string&);

std::function<Status(const std::string&)> set_filter(Selection& selection, FilterText setter) {
  return [&selection, setter](const std::string& value) -> Status {
    if (value.empty()) return fail(ErrorCode::invalid_argument, "empty");
    if (value.find(',') != std::string::npos)
      return fail(ErrorCode::invalid_argument,
                  "\"" + value + "\": only one is understood; run acancel once for each");
    (selection.filter.*setter)(value);
    return {};
  };
}

bool has_filter(const Selection& s) {
  return s.filter.ByteSizeLong() > 0 || s.me || !s.nodes.empty();
}

}  // namespace

Result<int> parse_signal(const std::string& text) {
  if (const auto number = cli::parse_number(text, 64); number && *number > 0)
    return static_cast<int>(*number);
  std::string name = cli::upper(text);
  if (name.starts_with("SIG")) name.erase(0, 3);
  for (int signal = 1; signal < NSIG; ++signal) {
    const char* known = sigabbrev_np(signal);
    if (known && name == known) return signal;
  }
  return fail(ErrorCode::invalid_argument,
              "unknown signal \"" + text + "\"; write a name such as USR1 or a number");
}

cli::OptionTable options(Selection& s) {
  cli::OptionTable table;
  table.environment_prefix = "ACANCEL_";
  table.options = {
      {'u', "user", "USER", "Jobs of this user.",
       set_filter(s, &api::JobSelector::set_user<const std::string&>)},
      {0, "me", "", "My own jobs.", cli::set_flag(s.me)},
      {'p', "partition", "NAME", "Jobs of this partition.",
       set_filter(s, &api::JobSelector::set_partition<const std::string&>)},
      {'n',
       "name",
       "NAME",
       "Jobs of this name.",
       set_filter(s, &api::JobSelector::set_name<const std::string&>),
       {"jobname"}},
      {'t', "state", "STATE", "Jobs in this state: PENDING, RUNNING or SUSPENDED.",
       [&s](const std::string& value) -> Status {
         const auto state = parse_job_state(cli::upper(value));
         if (!state || is_terminal(*state))
           return fail(ErrorCode::invalid_argument, "Invalid job state specified: " + value +
                                                        "; use PENDING, RUNNING or SUSPENDED");
         s.filter.set_state(std::string(to_string(*state)));
         return {};
       }},
      {'A', "account", "NAME", "Jobs of this account.",
       set_filter(s, &api::JobSelector::set_account<const std::string&>)},
      {'q', "qos", "NAME", "Jobs of this quality of service.",
       set_filter(s, &api::JobSelector::set_qos<const std::string&>)},
      {'w', "nodelist", "NODES", "Jobs on one of these nodes.",
       [&s](const std::string& value) -> Status {
         auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         s.nodes = std::move(*names);
         return {};
       }},
      {'s', "signal", "SIGNAL", "Send this signal instead of ending the job.",
       [&s](const std::string& value) -> Status {
         const auto signal = parse_signal(value);
         if (!signal) return fail(signal.error());
         s.signal = *signal;
         return {};
       }},
      {'b', "batch", "",
       "Signal only the shell that runs the script (TERM unless -s says otherwise).",
       cli::set_flag(s.batch_only)},
      {'Q', "quiet", "", "Do not complain about jobs that do not exist or have ended.",
       cli::set_flag(s.quiet)},
      {'v', "verbose", "", "Say on standard error what is cancelled.", cli::set_flag(s.verbose)},
  };
  table.unbuilt = {{'i', "interactive", false},
                   {'f', "full", false},
                   {'H', "hurry", false},
                   {'R', "reservation"},
                   {0, "wckey"},
                   {0, "ctld", false},
                   {0, "cron", false},
                   {0, "sibling"},
                   {'M', "clusters"},
                   {'c', "cluster"},
                   {0, "admin-comment"}};
  cli::add_common_options(table, s.common);
  return table;
}

Result<std::vector<api::Cancel>> requests(const Selection& s) {
  api::Cancel base;
  *base.mutable_jobs() = s.filter;
  base.set_batch_only(s.batch_only);
  base.set_signal(s.signal == 0 && s.batch_only ? SIGTERM : s.signal);
  std::vector<JobKey> keys;
  for (const std::string& id : s.ids) {
    const auto parsed = cli::parse_job_ids(id);
    if (!parsed) return fail(parsed.error());
    keys.insert(keys.end(), parsed->begin(), parsed->end());
  }
  if (keys.empty() && !has_filter(s))
    return fail(ErrorCode::invalid_argument,
                "No job identification provided: name job ids, or filters such as --me");
  cli::add_refs(base.mutable_jobs()->mutable_jobs(), keys);
  if (s.nodes.empty()) return std::vector{base};
  std::vector<api::Cancel> all;
  for (const std::string& node : s.nodes) {
    all.push_back(base);
    all.back().mutable_jobs()->set_node(node);
  }
  return all;
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "acancel",
      .summary = "cancel jobs or send them signals",
      .synopsis = {"[OPTIONS] ID...", "[OPTIONS] FILTER..."},
      .description =
          {"acancel ends jobs. A pending job is simply cancelled. To a running one SIGCONT and "
           "SIGTERM are sent, and SIGKILL "
           "after the site's kill_wait.",
           "Ids are a job's (12), an array's with all its tasks (12), one task's (12_3) or several "
           "tasks' (12_[1-4]). Filters "
           "select the jobs for which all of them hold; with ids they narrow those down.",
           "Users may cancel their own jobs; operators everyone's."},
      .examples = {{"acancel 12 13_4", "Cancel a job and one task of an array."},
                   {"acancel --me -t PENDING", "Cancel all my pending jobs."},
                   {"acancel -s USR1 -b 12", "Send SIGUSR1 to the script's shell."}},
      .see_also = {"asub(1)", "aqueue(1)", "actl(1)"}};
  return text;
}

}  // namespace ares::acancel
