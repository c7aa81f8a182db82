#include "aacct/query.h"

#include <algorithm>
#include <set>

#include "base/duration.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "cli/options/filter_options.h"
#include "cli/output/index_list.h"
#include "cli/output/text.h"
#include "cli/values/job_ids.h"
#include "model/job/job.h"

namespace ares::aacct {
namespace {

using SetTime = void (api::Accounting::*)(std::int64_t);

constexpr const char* kBrief = "JobID,State,ExitCode";
constexpr const char* kLong =
    "JobID,JobIDRaw,JobName,User,Partition,Account,QOS,State,ExitCode,Reason,Submit,Eligible,Start,"
    "End,Elapsed,Planned,Timelimit,Priority,AllocCPUS,AllocNodes,NodeList,ReqTRES,AllocTRES,"
    "CPUTime,TotalCPU,MaxRSS,Restarts,Comment,WorkDir";

std::function<Status(const std::string&)> set_time(api::Accounting* filter, SetTime setter,
                                                   Time now) {
  return [=](const std::string& value) -> Status {
    const auto at = parse_timespec(value, now, TimeOfDay::today);
    if (!at) return fail(at.error());
    (filter->*setter)(at->time_since_epoch().count());
    return {};
  };
}

// Parses a range such as "2-8"; a single number is both ends.
template <class Setter>
std::function<Status(const std::string&)> set_range(api::Accounting* filter, Setter least,
                                                    Setter most) {
  return [=](const std::string& value) -> Status {
    const std::size_t dash = value.find('-');
    const auto from = cli::parse_number(value.substr(0, dash), UINT32_MAX);
    const auto to =
        dash == std::string::npos ? from : cli::parse_number(value.substr(dash + 1), UINT32_MAX);
    if (!from || !to || *from > *to)
      return fail(ErrorCode::invalid_argument, quote(value) + ": expected N or MIN-MAX");
    (filter->*least)(*from);
    (filter->*most)(*to);
    return {};
  };
}

std::function<Status(const std::string&)> set_limit(api::Accounting* filter, SetTime setter) {
  return [=](const std::string& value) -> Status {
    const auto limit = parse_time_limit(value);
    if (!limit) return fail(limit.error());
    if (!*limit)
      return fail(ErrorCode::invalid_argument, quote(value) + " is no limit: name a length");
    (filter->*setter)((*limit)->count());
    return {};
  };
}

std::function<Status(const std::string&)> set_states(api::Accounting* filter) {
  return [filter](const std::string& value) -> Status {
    filter->clear_states();
    for (const std::string& item : cli::split(value, ',')) {
      const std::string word = cli::upper(item);
      const auto state = parse_job_state(word);
      if (state)
        filter->add_states(std::string(to_string(*state)));
      else if (word == "RQ" || word == "REQUEUED")
        filter->add_states("REQUEUED");
      else
        return fail(ErrorCode::invalid_argument, "Invalid job state specified: " + excerpt(item));
    }
    return {};
  };
}

}  // namespace

cli::OptionTable options(Query& q, Time now) {
  cli::OptionTable table;
  table.environment_prefix = "AACCT_";
  table.options = {
      {'j', "jobs", "IDS",
       "Only these jobs: 12, 12_3, separated by commas; of any user and any time. 12.0 and "
       "12.batch "
       "are only this step of a job.",
       [&q](const std::string& value) -> Status {
         auto ids = cli::parse_step_ids(value);
         if (!ids) return fail(ids.error());
         q.ids = std::move(*ids);
         q.filter.clear_jobs();
         cli::add_refs(q.filter.mutable_jobs(), q.ids.jobs());
         return {};
       }},
      {'u',
       "user",
       "USERS",
       "Only jobs of these users, names or numbers; a name that neither the system nor accounting "
       "knows is an error. Default: my own.",
       cli::set_names(q.filter.mutable_users()),
       {"uid", "users"}},
      {'a', "allusers", "", "Jobs of all users.", cli::set_flag(q.all_users)},
      {'A',
       "accounts",
       "NAMES",
       "Only jobs of these accounts.",
       cli::set_names(q.filter.mutable_accounts()),
       {"account"}},
      {'r', "partition", "NAMES", "Only jobs of these partitions.",
       cli::set_names(q.filter.mutable_partitions())},
      {0, "name", "NAMES", "Only jobs of these names.", cli::set_names(q.filter.mutable_names())},
      {'q', "qos", "NAMES", "Only jobs of these qualities of service.",
       cli::set_names(q.filter.mutable_qos())},
      {'W', "wckeys", "NAMES", "Only jobs for these wckeys.",
       cli::set_names(q.filter.mutable_wckeys())},
      {'g',
       "gid",
       "GROUPS",
       "Only jobs of these groups, names or numbers.",
       cli::set_names(q.filter.mutable_groups()),
       {"group"}},
      {'s', "state", "STATES",
       "Only jobs that were in one of these states in the window of time: CD, F, CA, TO, R and so "
       "on.",
       set_states(&q.filter)},
      {'S', "starttime", "TIME", "Begin of the window; see WINDOW OF TIME.",
       set_time(&q.filter, &api::Accounting::set_start, now)},
      {'E', "endtime", "TIME", "End of the window. Default: now.",
       set_time(&q.filter, &api::Accounting::set_end, now)},
      {'T', "truncate", "", "Show times outside of the window as its ends.",
       cli::set_flag(q.truncate)},
      {'N',
       "nodelist",
       "NODES",
       "Only jobs that ran on one of these nodes.",
       cli::set_hosts(q.filter.mutable_nodes()),
       {"node"}},
      {'i', "nnodes", "N[-MAX]", "Only jobs with so many nodes.",
       set_range(&q.filter, &api::Accounting::set_min_nodes, &api::Accounting::set_max_nodes)},
      {'I', "ncpus", "N[-MAX]", "Only jobs with so many CPUs.",
       set_range(&q.filter, &api::Accounting::set_min_cpus, &api::Accounting::set_max_cpus)},
      {'k', "timelimit-min", "LENGTH",
       "Only jobs with this time limit; with --timelimit-max with at least it.",
       set_limit(&q.filter, &api::Accounting::set_min_time_limit)},
      {'K', "timelimit-max", "LENGTH", "Only jobs with at most this time limit.",
       set_limit(&q.filter, &api::Accounting::set_max_time_limit)},
      {'D', "duplicates", "", "Every attempt of jobs that ran again, not only the last.",
       [&q](const std::string&) -> Status {
         q.filter.set_all_attempts(true);
         return {};
       }},
      {'X', "allocations", "", "Jobs only, without their steps.", cli::set_flag(q.allocations)},
      {'o', "format", "FIELDS",
       "Fields to print, separated by commas, or all; NAME%WIDTH cuts to a width, a negative one "
       "aligns to the left.",
       [&q](const std::string& fields) -> Status {
         q.format = fields;
         q.own_format = true;
         return {};
       }},
      {'l',
       "long",
       "",
       "Most fields.",
       [&q](const std::string&) -> Status {
         q.format = kLong;
         return {};
       },
       {},
       {"format"}},
      {'b',
       "brief",
       "",
       "Id, state and exit code.",
       [&q](const std::string&) -> Status {
         q.format = kBrief;
         return {};
       },
       {},
       {"format", "long"}},
      {'P', "parsable2", "", "Fields with | between them, not cut; a | in a field is shown as ?.",
       cli::set_flag(q.parsable2)},
      {'p', "parsable", "", "The same, with a | behind the last.", cli::set_flag(q.parsable)},
      {0, "delimiter", "TEXT", "With -P and -p: separate fields by this instead of |.",
       cli::set_text(q.delimiter)},
      {'n', "noheader", "", "No header.", cli::set_flag(q.no_header)},
      {'e', "helpformat", "", "List the fields and stop.", cli::set_flag(q.list_fields)},
      {0, "array", "", "A line for each task of an array that waits.",
       cli::set_flag(q.expand_arrays)},
      {0, "units", "K|M|G|T|P", "Print amounts of memory in this unit.",
       [&q](const std::string& value) -> Status {
         const auto unit = parse_unit(value);
         if (!unit) return fail(unit.error());
         q.units.always = *unit;
         return {};
       }},
      {0,
       "noconvert",
       "",
       "Print amounts of memory as recorded, not in a larger unit.",
       [&q](const std::string&) -> Status {
         q.units.convert = false;
         return {};
       },
       {},
       {"units"}},
      {.name = "follow",
       .argument = "",
       .help =
           "Go on, and print the row of each job when it ends, until interrupted; see FOLLOWING.",
       .apply = cli::set_flag(q.follow),
       .excludes = {"endtime", "yaml"},
       .environment = false},
  };
  cli::add_document_options(table.options, q.document,
                            "Everything that is known, as JSON; the same names in every release, "
                            "and job_id as in Slurm.");
  table.options.push_back(cli::colour_option(q.colour));
  for (cli::Option& option : table.options)
    if (option.name == "delimiter") option.any_text = true;
  table.unsupported = {{'B', "batch-script", false},
                       {0, "env-vars", false},
                       {'L', "allclusters", false},
                       {'M', "clusters"},
                       {'c', "completion", false},
                       {'f', "file"},
                       {'F', "flags"},
                       {'x', "associations"},
                       {'R', "reason"},
                       {0, "federation", false},
                       {0, "local", false},
                       {0, "expand-patterns", false},
                       {0, "whole-hetjob"},
                       {0, "use-local-uid", false}};
  cli::add_common_options(table, q.common);
  return table;
}

namespace {

bool is_final(const std::string& name) {
  const auto state = parse_job_state(name);
  return !state || is_terminal(*state);
}

// Fills in the time window if it was not given.
Status complete_window(Query& q, Time now) {
  api::Accounting& filter = q.filter;
  const bool named = !filter.jobs().empty();
  const bool by_state = !filter.states().empty();
  if (filter.start() == 0 && !named) {
    if (by_state) {
      // Selects jobs that are in these states now, or at the given end.
      const std::int64_t at = filter.end() ? filter.end() : now.time_since_epoch().count();
      const bool moment = filter.end() == 0;
      filter.set_start(at);
      filter.set_end(at);
      if (moment && std::any_of(filter.states().begin(), filter.states().end(), is_final))
        q.hint = "with -s alone only this moment is looked at; add -S for what ended since then";
    } else {
      const auto midnight = parse_timespec("today", now);
      if (!midnight) return fail(midnight.error());
      filter.set_start(midnight->time_since_epoch().count());
    }
  }
  if (filter.end() != 0 && filter.start() > filter.end())
    return fail(ErrorCode::invalid_argument, "the start of the time span is after its end");
  return {};
}

}  // namespace

Status complete(Query& q, Time now, std::uint32_t uid) {
  api::Accounting& filter = q.filter;
  if (q.all_users) filter.clear_users();
  if (filter.users().empty() && !q.all_users && filter.jobs().empty() && uid != 0)
    filter.add_users(std::to_string(uid));
  if (filter.has_min_time_limit() && !filter.has_max_time_limit())
    filter.set_max_time_limit(filter.min_time_limit());
  return complete_window(q, now);
}

void ask_only_for(const std::vector<SelectedField>& chosen, Query& query) {
  api::Accounting& filter = query.filter;
  std::set<int> needed;
  for (const SelectedField& field : chosen)
    needed.insert(field.field->needs.begin(), field.field->needs.end());
  filter.set_steps(!query.allocations || needed.contains(api::AccountingRow::kStepsFieldNumber));
  for (const int number : needed) filter.add_fields(static_cast<std::uint32_t>(number));
  // An empty list would request all fields.
  if (needed.empty()) filter.add_fields(api::AccountingRow::kKeyFieldNumber);
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aacct",
      .summary = "report on jobs from accounting",
      .synopsis = {"[OPTIONS]"},
      .description =
          {"aacct prints what the accounting knows about jobs: those that wait, those that run and "
           "all that have ended, however long ago. Without -j, -u or -a it shows the caller's own "
           "jobs (to root: all) since midnight.",
           "A job that was started again has one row for its last attempt; -D shows every one. "
           "Tasks of an array that wait, or were cancelled while they did, share a row as "
           "12_[3-9].",
           "Below the line of a job are those of its steps: 12.batch is its batch script, 12.0 the "
           "first step of arun. Of a job with more than 1000 steps 12.others sums up the rest. -X "
           "leaves them out, -j 12.0 shows one alone. The numbers of a step are those of its tasks "
           "as the node's kernel counted them when they ended; while it runs they are a few "
           "seconds "
           "old. 12.batch has what the job used on its first node without what its steps used "
           "there; its MaxRSS includes them, because the kernel counts the memory of a job as one.",
           "Columns are as wide as what they hold, and the numbers of jobs are never cut. On a "
           "terminal, unless -o names the fields, lists of array indices and other texts are, with "
           "a + at the end of a text, where the line would not fit.",
           cli::describe_index_lists() + " -p, -P, --json and --yaml always show all."},
      .sections =
          {{"Fields",
            [] {
              std::vector<std::string> texts;
              for (const Field& field : fields())
                texts.push_back(field.name + ": " + field.help + ".");
              texts.push_back("Not supported, and refused by name: " + describe_refused_fields() +
                              ".");
              return texts;
            }()},
           {"Window of time",
            {"Without -s: jobs that were known to the cluster between -S and -E, which are "
             "midnight and now; with -j at any time.",
             "With -s: jobs that were in one of these states at some time between them. A "
             "job is PENDING from its submission until it is given nodes, RUNNING from its "
             "start to its end; it enters all other states at its end, so that -s F -S "
             "now-1day are those that failed in the last day. With -s alone both are now, "
             "with -j any time."}},
           {"Following",
            {"With --follow aacct goes on behind the rows that it lists, as tail -f does: when a "
             "job "
             "ends, its row is printed once it is stored, whatever the window of time is; with -D "
             "the "
             "row of every attempt. All other options apply. Columns keep the widths that the "
             "listing "
             "has, as far as rows fit. With --json each row is one object on a line of its own.",
             "If the controller restarts or the connection breaks, aacct says so on standard "
             "error, "
             "connects again and goes on with the row after the last that it printed, unless the "
             "journal does not reach back to it any more (retention.journal): then it says so, and "
             "lists all rows again. It ends "
             "with exit status 0 at an interrupt (Ctrl-C) or SIGTERM. A user can have 32 streams "
             "at "
             "once, those of aqueue --watch included."}},
           {"Times",
            {"Times are written as now, now-2hours, today, 09:30, 2030-01-20 or "
             "2030-01-20T12:34. A time of day is "
             "that of today."}}},
      .examples = {{"aacct --follow -a -X -n -P -o JobID,State,ExitCode",
                    "Every job as it ends, for a script."},
                   {"aacct -j 12 -o JobID,State,ExitCode,Elapsed,MaxRSS", "How job 12 went."},
                   {"aacct -n -P -j 12.batch -o MaxRSS",
                    "Memory of its batch script, for a script."},
                   {"aacct -a -S now-1day -s F,TO -P",
                    "All that failed in the last day, for a script."},
                   {"aacct -a -X -n -P -S 2030-01-01 -o Partition,GPUTimeRAW",
                    "GPU seconds by partition, to be summed up."}},
      .see_also = {"aqueue(1)", "asub(1)", "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::aacct
