#include "acancel/selection.h"

#include <csignal>
#include <functional>

#include "base/hostlist.h"
#include "base/interval_set.h"
#include "base/printable.h"
#include "base/signal_name.h"
#include "cli/output/table.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "cli/values/step_ids.h"
#include "model/job/job.h"
#include "model/job/step_record.h"

namespace ares::acancel {
namespace {

constexpr std::size_t kMostRequests = 1000;

bool has_filter(const Selection& s) {
  for (const auto* list :
       {&s.users, &s.partitions, &s.names, &s.states, &s.accounts, &s.qos, &s.wckeys, &s.nodes})
    if (!list->empty()) return true;
  return s.me;
}

Status set_states(Selection& s, const std::string& value) {
  s.states.clear();
  for (const std::string& word : cli::split(value, ',')) {
    const auto state = parse_job_state(cli::upper(word));
    if (!state || is_terminal(*state))
      return fail(ErrorCode::invalid_argument, "Invalid job state specified: " + excerpt(word) +
                                                   "; use PENDING, RUNNING or SUSPENDED");
    s.states.emplace_back(to_string(*state));
  }
  if (s.states.empty()) return fail(ErrorCode::invalid_argument, "empty; name at least one");
  return {};
}

Result<cli::JobOrStepIds> ids_of(const Selection& s) {
  cli::JobOrStepIds ids;
  for (const std::string& id : s.ids) {
    const auto parsed = cli::parse_step_ids(id);
    if (!parsed) return fail(parsed.error());
    ids.whole.insert(ids.whole.end(), parsed->whole.begin(), parsed->whole.end());
    ids.steps.insert(ids.steps.end(), parsed->steps.begin(), parsed->steps.end());
  }
  if (ids.whole.empty() && ids.steps.empty() && !has_filter(s))
    return fail(ErrorCode::invalid_argument,
                "No job identification provided: name job ids, or filters such as --me");
  return ids;
}

// The request about one step: 12.batch is the script of job 12.
Result<api::Cancel> step_request(const Selection& s, const cli::StepId& id) {
  if (id.step == kOtherSteps)
    return fail(ErrorCode::invalid_argument,
                cli::format_job_id(id.job) + ".others is not one step; name its number");
  api::Cancel request;
  request.set_signal(s.signal);
  cli::add_refs(request.mutable_jobs()->mutable_jobs(), std::vector<JobKey>{id.job});
  if (id.step == kBatchStep) {
    request.set_batch_only(true);
    if (s.signal == 0) request.set_signal(SIGTERM);
  } else {
    request.set_step(static_cast<std::uint32_t>(id.step));
  }
  return request;
}

// Multiplies the requests: one copy of each per value.
using Setter = std::function<void(api::JobSelector&, const std::string&)>;
void multiply(std::vector<api::Cancel>& all, const std::vector<std::string>& values,
              const Setter& set) {
  if (values.empty()) return;
  std::vector<api::Cancel> more;
  for (const api::Cancel& one : all)
    for (const std::string& value : values) {
      more.push_back(one);
      set(*more.back().mutable_jobs(), value);
    }
  all = std::move(more);
}

}  // namespace

cli::OptionTable options(Selection& s) {
  cli::OptionTable table;
  table.environment_prefix = "ACANCEL_";
  table.options = {
      {'u', "user", "USERS", "Jobs of these users, names or numbers.", cli::set_list(s.users)},
      {0, "me", "", "My own jobs.", cli::set_flag(s.me), {}, {"user"}},
      {'p', "partition", "NAMES", "Jobs of these partitions.", cli::set_list(s.partitions)},
      {'n', "name", "NAMES", "Jobs of these names.", cli::set_list(s.names), {"jobname"}},
      {'t',
       "state",
       "STATES",
       "Jobs in these states: PENDING, RUNNING or SUSPENDED.",
       [&s](const std::string& value) { return set_states(s, value); },
       {"states"}},
      {'A', "account", "NAMES", "Jobs of these accounts.", cli::set_list(s.accounts)},
      {'q', "qos", "NAMES", "Jobs of these qualities of service.", cli::set_list(s.qos)},
      {0, "wckey", "NAMES", "Jobs for these wckeys.", cli::set_list(s.wckeys)},
      {'w', "nodelist", "NODES", "Jobs on one of these nodes, such as n[1-3].",
       [&s](const std::string& value) -> Status {
         auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         s.nodes = std::move(*names);
         return {};
       }},
      {'i', "interactive", "", "Ask about every job.", cli::set_flag(s.interactive)},
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
      {'f',
       "full",
       "",
       "Signal the shell that runs the script, everything it started and all steps, which is what "
       "is done without -b anyway.",
       cli::set_flag(s.full),
       {},
       {"batch"}},
      {0, "ctld", "", "Send signals by way of the controller, which is what is done anyway.",
       [](const std::string&) { return Status(); }},
      {'Q', "quiet", "", "Do not complain about jobs that do not exist or have ended.",
       cli::set_flag(s.quiet)},
      {'v', "verbose", "", "Say on standard error what is cancelled.", cli::set_flag(s.verbose)},
  };
  table.unsupported = {{'H', "hurry", false}, {'R', "reservation"}, {0, "cron", false},
                       {0, "sibling"},        {'M', "clusters"},    {'c', "cluster"},
                       {0, "admin-comment"}};
  cli::add_common_options(table, s.common);
  return table;
}

Result<std::vector<api::Cancel>> requests(const Selection& s, std::uint32_t uid) {
  const auto ids = ids_of(s);
  if (!ids) return fail(ids.error());
  api::Cancel base;
  base.set_batch_only(s.batch_only);
  base.set_signal(s.signal == 0 && s.batch_only ? SIGTERM : s.signal);
  cli::add_refs(base.mutable_jobs()->mutable_jobs(), ids->whole);
  std::vector<api::Cancel> all;
  if (!ids->whole.empty() || ids->steps.empty()) all.push_back(base);
  for (const cli::StepId& id : ids->steps) {
    auto request = step_request(s, id);
    if (!request) return fail(request.error());
    all.push_back(std::move(*request));
  }
  if (s.me)
    for (api::Cancel& one : all) one.mutable_jobs()->set_uid(uid);

  std::size_t count = all.size();
  for (const auto* list :
       {&s.users, &s.states, &s.names, &s.partitions, &s.accounts, &s.qos, &s.wckeys, &s.nodes}) {
    count *= std::max<std::size_t>(list->size(), 1);
    if (count > kMostRequests)
      return fail(ErrorCode::invalid_argument,
                  "too many combinations of filters; run acancel several times with fewer");
  }
  using To = api::JobSelector;
  using Text = const std::string;
  multiply(all, s.users, [](To& to, Text& text) { to.set_user(text); });
  multiply(all, s.states, [](To& to, Text& text) { to.set_state(text); });
  multiply(all, s.names, [](To& to, Text& text) { to.set_name(text); });
  multiply(all, s.partitions, [](To& to, Text& text) { to.set_partition(text); });
  multiply(all, s.accounts, [](To& to, Text& text) { to.set_account(text); });
  multiply(all, s.qos, [](To& to, Text& text) { to.set_qos(text); });
  multiply(all, s.wckeys, [](To& to, Text& text) { to.set_wckey(text); });
  multiply(all, s.nodes, [](To& to, Text& text) { to.set_node(text); });
  return all;
}

Result<api::ListJobs> listing(const Selection& s, std::uint32_t uid) {
  const auto ids = ids_of(s);
  if (!ids) return fail(ids.error());
  if (!ids->steps.empty())
    return fail(ErrorCode::invalid_argument,
                "--interactive asks about jobs; leave it out to cancel a step");
  api::ListJobs list;
  const std::vector<JobKey> keys = ids->jobs();
  cli::add_refs(list.mutable_jobs(), keys);
  const auto add = [](const std::vector<std::string>& from, auto* to) {
    for (const std::string& text : from) *to->Add() = text;
  };
  add(s.users, list.mutable_users());
  add(s.partitions, list.mutable_partitions());
  add(s.names, list.mutable_names());
  add(s.accounts, list.mutable_accounts());
  add(s.qos, list.mutable_qos());
  add(s.wckeys, list.mutable_wckeys());
  add(s.nodes, list.mutable_nodes());
  add(s.states, list.mutable_states());
  if (s.me || (keys.empty() && s.users.empty() && uid != 0)) list.add_users(std::to_string(uid));
  if (list.states().empty())
    for (const JobState state : {JobState::pending, JobState::configuring, JobState::running,
                                 JobState::suspended, JobState::completing})
      list.add_states(std::string(to_string(state)));
  return list;
}

std::vector<api::JobRef> refs_of(const api::Job& row) {
  if (row.key().has_task() || row.array_tasks().empty()) return {row.key()};
  std::vector<api::JobRef> refs;
  const auto tasks = parse_interval_set(row.array_tasks());
  if (!tasks) return {row.key()};
  for (const std::uint32_t task : *tasks) {
    refs.push_back(row.key());
    refs.back().set_task(task);
  }
  return refs;
}

std::string question(const Selection& s, const api::Job& row) {
  std::string id = cli::format_job_id(cli::key_of(row.key()));
  if (!row.key().has_task() && !row.array_tasks().empty()) id += "_[" + row.array_tasks() + "]";
  const bool ends = s.signal == 0 && !s.batch_only;
  return std::string(ends ? "Cancel" : "Signal") + " job " + id + " (" + printable(row.name()) +
         " of " + row.user() + ", partition " + row.partition() + ", " + row.state() + ")? [y/n] ";
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
           "tasks' (12_[1-4]). 12.0 is only step 0 of job 12, which ends like a job: its tasks get "
           "SIGCONT and SIGTERM, and SIGKILL after kill_wait; the job goes on. A job that has "
           "ended "
           "is no error, nor is a step that has ended, or never was. 12.batch is the shell that "
           "runs the script, as with -b. "
           "Filters "
           "select the jobs for which all of them hold; with ids they narrow those down. A filter "
           "with several values, separated by commas, holds for jobs that have one of them.",
           "Users may cancel their own jobs; operators everyone's."},
      .examples = {{"acancel 12 13_4", "Cancel a job and one task of an array."},
                   {"acancel --me -t PENDING", "Cancel all my pending jobs."},
                   {"acancel -i -n train",
                    "Cancel some of my jobs called train, asking about each."},
                   {"acancel 12.0", "End step 0 of job 12."},
                   {"acancel -s USR1 -b 12", "Send SIGUSR1 to the script's shell."}},
      .see_also = {"asub(1)", "aqueue(1)", "actl(1)"}};
  return text;
}

}  // namespace ares::acancel
