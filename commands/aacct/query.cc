#include "aacct/query.h"

#include <algorithm>

#include "base/hostlist.h"
#include "base/timespec.h"
#include "cli/job_ids.h"
#include "cli/text.h"
#include "model/job.h"

namespace ares::aacct {
namespace {

using TextList = google::protobuf::RepeatedPtrField<std::string>;
using SetTime = void (api::Accounting::*)(std::int64_t);

constexpr const char* kBrief = "JobID,State,ExitCode";
constexpr const char* kLong =
    "JobID,JobIDRaw,JobName,User,Partition,Account,QOS,State,ExitCode,Submit,Start,End,Elapsed,"
    "Timelimit,AllocCPUS,AllocNodes,"
    "NodeList,ReqTRES,AllocTRES,TotalCPU,MaxRSS,Restarts";

std::function<Status(const std::string&)> set_list(TextList* list) {
  return [list](const std::string& value) -> Status {
    list->Clear();
    for (std::string& item : cli::split(value, ',')) {
      if (item.empty())
        return fail(ErrorCode::invalid_argument, "\"" + value + "\" has an empty item");
      *list->Add() = std::move(item);
    }
    if (list->empty()) return fail(ErrorCode::invalid_argument, "empty; name at least one");
    return {};
  };
}

std::function<Status(const std::string&)> set_time(api::Accounting* filter, SetTime setter,
                                                   Time now) {
  return [=](const std::string& value) -> Status {
    const auto at = parse_timespec(value, now, TimeOfDay::today);
    if (!at) return fail(at.error());
    (filter->*setter)(at->time_since_epoch().count());
    return {};
  };
}

std::string padded(const std::string& text, int width, bool whole) {
  const auto size = static_cast<std::size_t>(width < 0 ? -width : width);
  std::string cell = text;
  if (!whole && cell.size() > size) cell = cell.substr(0, size - 1) + "+";
  const std::string pad(cell.size() < size ? size - cell.size() : 0, ' ');
  return width < 0 ? cell + pad : pad + cell;
}

}  // namespace

cli::OptionTable options(Query& q, Time now) {
  cli::OptionTable table;
  table.environment_prefix = "AACCT_";
  table.options = {
      {'j', "jobs", "IDS",
       "Only these jobs: 12, 12_3, separated by commas; of any user and any time.",
       [&q](const std::string& value) -> Status {
         const auto keys = cli::parse_job_ids(value);
         if (!keys) return fail(keys.error());
         q.filter.clear_jobs();
         cli::add_refs(q.filter.mutable_jobs(), *keys);
         return {};
       }},
      {'u',
       "user",
       "USERS",
       "Only jobs of these users, names or numbers. Default: my own.",
       set_list(q.filter.mutable_users()),
       {"uid", "users"}},
      {'a', "allusers", "", "Jobs of all users.", cli::set_flag(q.all_users)},
      {'A',
       "accounts",
       "NAMES",
       "Only jobs of these accounts.",
       set_list(q.filter.mutable_accounts()),
       {"account"}},
      {'r', "partition", "NAMES", "Only jobs of these partitions.",
       set_list(q.filter.mutable_partitions())},
      {0, "name", "NAMES", "Only jobs of these names.", set_list(q.filter.mutable_names())},
      {'s', "state", "STATES", "Only jobs in these states: CD, F, CA, TO, R and so on.",
       [&q](const std::string& value) -> Status {
         q.filter.clear_states();
         for (const std::string& item : cli::split(value, ',')) {
           const auto state = parse_job_state(cli::upper(item));
           if (!state)
             return fail(ErrorCode::invalid_argument, "Invalid job state specified: " + item);
           q.filter.add_states(std::string(to_string(*state)));
         }
         return {};
       }},
      {'S', "starttime", "TIME",
       "Jobs that were known at or after this time. Default: midnight; with -j any time.",
       set_time(&q.filter, &api::Accounting::set_start, now)},
      {'E', "endtime", "TIME", "And before this. Default: now.",
       set_time(&q.filter, &api::Accounting::set_end, now)},
      {'N', "nodelist", "NODES", "Only jobs that ran on one of these nodes.",
       [&q](const std::string& value) -> Status {
         auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         q.nodes = std::move(*names);
         return {};
       }},
      {'D', "duplicates", "", "Every attempt of jobs that ran again, not only the last.",
       [&q](const std::string&) -> Status {
         q.filter.set_all_attempts(true);
         return {};
       }},
      {'X', "allocations", "",
       "Jobs only, without their steps (steps are not recorded yet, so this is always so).",
       [](const std::string&) -> Status { return {}; }},
      {'o', "format", "FIELDS",
       "Fields to print, separated by commas; NAME%WIDTH, a negative width aligns to the left.",
       cli::set_text(q.format)},
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
      {'P', "parsable2", "", "Fields with | between them, not cut.", cli::set_flag(q.parsable2)},
      {'p', "parsable", "", "The same, with a | behind the last.", cli::set_flag(q.parsable)},
      {0, "delimiter", "TEXT", "With -P and -p: this instead of |.", cli::set_text(q.delimiter)},
      {'n', "noheader", "", "No header.", cli::set_flag(q.no_header)},
      {'e', "helpformat", "", "List the fields and stop.", cli::set_flag(q.list_fields)},
      {0, "json", "", "Everything that is known, as JSON.", cli::set_flag(q.json)},
  };
  for (cli::Option& option : table.options)
    if (option.name == "delimiter") option.any_text = true;
  table.unbuilt = {{'B', "batch-script", false},
                   {0, "env-vars", false},
                   {'q', "qos"},
                   {'W', "wckeys"},
                   {'i', "nnodes"},
                   {'I', "ncpus"},
                   {'k', "timelimit-min"},
                   {'K', "timelimit-max"},
                   {'L', "allclusters", false},
                   {'M', "clusters"},
                   {'T', "truncate", false},
                   {0, "yaml", false},
                   {0, "units"},
                   {0, "noconvert", false},
                   {'c', "completion", false},
                   {'f', "file"},
                   {'g', "gid"},
                   {'x', "associations"},
                   {'R', "reason"},
                   {0, "federation", false},
                   {0, "local", false},
                   {0, "array", false},
                   {0, "expand-patterns", false},
                   {0, "whole-hetjob"}};
  cli::add_common_options(table, q.common);
  return table;
}

Status complete(Query& q, Time now, std::uint32_t uid) {
  const bool named = !q.filter.jobs().empty();
  if (q.filter.users().empty() && !q.all_users && !named && uid != 0)
    q.filter.add_users(std::to_string(uid));
  if (q.all_users) q.filter.clear_users();
  if (q.filter.start() == 0 && !named) {
    const auto midnight = parse_timespec("today", now);
    if (!midnight) return fail(midnight.error());
    q.filter.set_start(midnight->time_since_epoch().count());
  }
  if (q.filter.end() != 0 && q.filter.start() > q.filter.end())
    return fail(ErrorCode::invalid_argument, "the start of the time span is after its end");
  return {};
}

std::vector<Row> select(const Query& q, const std::vector<api::AccountingRow>& rows, Time now) {
  std::vector<Row> out;
  for (const api::AccountingRow& row : rows) {
    if (!q.nodes.empty()) {
      const auto names = expand_hostlist(row.node_list());
      if (!names || std::none_of(names->begin(), names->end(), [&](const std::string& name) {
            return std::find(q.nodes.begin(), q.nodes.end(), name) != q.nodes.end();
          }))
        continue;
    }
    out.push_back({&row, now});
  }
  return out;
}

std::string print(const Query& q, const std::vector<Chosen>& chosen, const std::vector<Row>& rows) {
  const bool plain = q.parsable || q.parsable2;
  std::string out;
  const auto line = [&](const std::function<std::string(const Chosen&)>& text, bool whole_line) {
    std::string joined;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (i > 0) joined += plain ? q.delimiter : " ";
      const std::string cell = text(chosen[i]);
      joined += plain ? cell : padded(cell, chosen[i].width, whole_line || chosen[i].field->whole);
    }
    if (q.parsable) joined += q.delimiter;
    out += joined + "\n";
  };
  if (!q.no_header) {
    line([](const Chosen& c) { return c.field->name; }, false);
    if (!plain)
      line(
          [](const Chosen& c) {
            return std::string(static_cast<std::size_t>(c.width < 0 ? -c.width : c.width), '-');
          },
          true);
  }
  for (const Row& row : rows) line([&](const Chosen& c) { return c.field->text(row); }, false);
  return out;
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aacct",
      .summary = "report on jobs from accounting",
      .synopsis = {"[OPTIONS]"},
      .description =
          {"aacct prints what the accounting knows about jobs: those that run and all that have "
           "ended, "
           "however long ago; jobs that still wait are listed by aqueue. Without -j, -u or -a it "
           "shows the caller's own jobs (to root: all) since "
           "midnight.",
           "A job that was started again has one row for its last attempt; -D shows every one."},
      .sections = {{"Fields",
                    [] {
                      std::vector<std::string> texts;
                      for (const Field& field : fields())
                        texts.push_back(field.name + ": " + field.help + ".");
                      return texts;
                    }()},
                   {"Times",
                    {"Times are written as now, now-2hours, today, 09:30, 2030-01-20 or "
                     "2030-01-20T12:34. A time of day is "
                     "that of today."}}},
      .examples = {{"aacct -j 12 -o JobID,State,ExitCode,Elapsed,MaxRSS", "How job 12 went."},
                   {"aacct -a -S now-1day -s F,TO -P",
                    "All that failed in the last day, for a script."}},
      .see_also = {"aqueue(1)", "asub(1)", "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::aacct
