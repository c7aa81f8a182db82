#include "aqueue/query.h"

#include <algorithm>

#include "aqueue/columns.h"
#include "base/hostlist.h"
#include "cli/job_ids.h"
#include "cli/table.h"
#include "cli/text.h"
#include "model/job.h"

namespace ares::aqueue {
namespace {

using TextList = google::protobuf::RepeatedPtrField<std::string>;

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

Status set_states(TextList* list, const std::string& value) {
  list->Clear();
  for (const std::string& item : cli::split(value, ',')) {
    if (cli::lower(item) == "all") {
      list->Clear();
      *list->Add() = "all";
      return {};
    }
    const auto state = parse_job_state(cli::upper(item));
    if (!state)
      return fail(ErrorCode::invalid_argument,
                  "Invalid job state specified: " + item +
                      "; states are PENDING (PD), RUNNING (R) and so on");
    *list->Add() = std::string(to_string(*state));
  }
  return {};
}

// An array's own record whose tasks all have records of their own shows nothing.
bool is_spent_array(const api::Job& job) {
  return job.has_spec() && !job.spec().array().empty() && !job.key().has_task() &&
         job.array_tasks().empty();
}

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AQUEUE_";
  auto& rows = table.options;
  rows = {
      {'j', "jobs", "IDS", "Only these jobs: 12, 12_3, separated by commas.",
       [&q](const std::string& value) -> Status {
         const auto keys = cli::parse_job_ids(value);
         if (!keys) return fail(keys.error());
         q.filter.clear_jobs();
         cli::add_refs(q.filter.mutable_jobs(), *keys);
         return {};
       }},
      {'t',
       "states",
       "STATES",
       "Only jobs in these states (PD, R, CD and so on, or all). Default: those that have not "
       "ended.",
       [&q](const std::string& value) { return set_states(q.filter.mutable_states(), value); },
       {"state"}},
      {'u',
       "user",
       "USERS",
       "Only jobs of these users, names or numbers.",
       set_list(q.filter.mutable_users()),
       {"users"}},
      {0, "me", "", "Only my own jobs.", cli::set_flag(q.me)},
      {'p', "partition", "NAMES", "Only jobs of these partitions.",
       set_list(q.filter.mutable_partitions())},
      {'n', "name", "NAMES", "Only jobs of these names.", set_list(q.filter.mutable_names())},
      {'A', "account", "NAMES", "Only jobs of these accounts.",
       set_list(q.filter.mutable_accounts())},
      {'q', "qos", "NAMES", "Only jobs of these qualities of service.", cli::set_list(q.qos)},
      {'w', "nodelist", "NODES", "Only jobs on one of these nodes, such as n[1-3].",
       [&q](const std::string& value) -> Status {
         const auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         q.filter.clear_nodes();
         for (const std::string& name : *names) q.filter.add_nodes(name);
         return {};
       }},
      {'r', "array", "", "One line for each task of an array, also those that wait.",
       [&q](const std::string&) -> Status {
         q.filter.set_expand_arrays(true);
         return {};
       }},
      {'l', "long", "", "Also the time limit, and states in full.", cli::set_flag(q.long_format)},
      {0, "start", "", "Pending jobs and when they are expected to start.", cli::set_flag(q.start)},
      {'o', "format", "FORMAT", "Columns to print; see FORMAT.", cli::set_text(q.format)},
      {'S', "sort", "KEYS",
       "Order: letters of columns, - before one for descending. Default: P,t,-p.",
       cli::set_text(q.sort)},
      {'h', "noheader", "", "No header.", cli::set_flag(q.no_header)},
      {0, "json", "", "Everything that is known, as JSON.", cli::set_flag(q.json)},
  };
  table.unbuilt = {
      {'i', "iterate"},         {'O', "Format"},           {'s', "steps"},
      {'a', "all", false},      {0, "hide", false},        {'M', "clusters"},
      {'R', "reservation"},     {'L', "licenses"},         {'P', "priority", false},
      {0, "yaml", false},       {0, "notme", false},       {0, "only-job-state", false},
      {0, "running-over"},      {0, "running-under"},      {0, "expand-patterns", false},
      {0, "federation", false}, {0, "local", false},       {0, "sibling", false},
      {0, "noconvert", false},  {0, "array-unique", false}};
  cli::add_common_options(table, q.common, 0);
  return table;
}

std::string format_of(const Query& query) {
  if (!query.format.empty()) return query.format;
  if (query.start) return "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %R";
  if (query.long_format) return "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
  return "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
}

std::string sort_of(const Query& query) {
  if (!query.sort.empty()) return query.sort;
  return query.start ? "S" : "P,t,-p";
}

Result<std::string> print(const Query& query, const api::Jobs& jobs) {
  std::vector<Row> rows;
  for (const api::Job& job : jobs.jobs()) {
    const bool wanted = query.qos.empty() ||
                        std::find(query.qos.begin(), query.qos.end(), job.qos()) != query.qos.end();
    if (wanted && !is_spent_array(job)) rows.push_back({&job, Time(Duration(jobs.now()))});
  }
  if (Status sorted = sort_rows(rows, sort_of(query)); !sorted) return fail(sorted.error());
  return cli::make_listing(format_of(query), columns(), rows).map([&](const cli::Listing& listing) {
    return cli::layout(listing, !query.no_header);
  });
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aqueue",
      .summary = "list the jobs that wait or run",
      .synopsis = {"[OPTIONS]"},
      .description = {"aqueue lists jobs that have not ended, first by partition, then by state "
                      "and priority. The list is one "
                      "consistent picture and always holds what was acknowledged before.",
                      "Ids are never cut; other columns are cut to their width."},
      .sections =
          {{"Format",
            [] {
              std::vector<std::string> texts = {
                  "A format is text with fields %[.][WIDTH]LETTER; a dot aligns to the right. %% "
                  "is a percent sign. The "
                  "default is \"%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R\". The letters are:"};
              for (std::string& line : cli::describe_columns(columns()))
                texts.push_back(std::move(line));
              return texts;
            }()}},
      .examples = {{"aqueue --me -t R", "My running jobs."},
                   {"aqueue -h -j 12 -o '%T %r'", "State and reason of one job, for a script."}},
      .see_also = {"asub(1)", "acancel(1)", "aacct(1)", "actl(1)", "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::aqueue
