#include "aqueue/query.h"

#include <algorithm>

#include "aqueue/columns.h"
#include "base/duration.h"
#include "base/hostlist.h"
#include "cli/job_ids.h"
#include "cli/text.h"
#include "model/job.h"

namespace ares::aqueue {
namespace {

using TextList = google::protobuf::RepeatedPtrField<std::string>;
using Apply = std::function<Status(const std::string&)>;

constexpr const char* kDefault = "%#.i %#.P %#.j %#.u %#.t %#.M %#.D %#R";
constexpr const char* kLong = "%#.i %#.P %#.j %#.u %#.T %#.M %#.l %#.D %#R";
constexpr const char* kStart = "%#.i %#.P %#.j %#.u %#.t %#.S %#.D %#Y %#R";

Apply set_texts(TextList* list) {
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

Status set_jobs(Query& q, const std::string& value) {
  auto keys = cli::parse_job_ids(value);
  if (!keys) return fail(keys.error());
  std::sort(keys->begin(), keys->end());
  keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
  q.filter.clear_jobs();
  cli::add_refs(q.filter.mutable_jobs(), *keys);
  return {};
}

// Which columns: of several such options the later one stands.
Apply choose(Query& q, void (*set)(Query&, const std::string&)) {
  return [&q, set](const std::string& value) -> Status {
    q.format.clear();
    q.name_format.clear();
    q.shape = Query::Shape::usual;
    set(q, value);
    return {};
  };
}

Apply set_seconds(void (api::ListJobs::*set)(std::int64_t), api::ListJobs* filter) {
  return [set, filter](const std::string& value) -> Status {
    const auto length = parse_time_limit(value);
    if (!length) return fail(length.error());
    (filter->*set)(*length ? (*length)->count() : 0);
    return {};
  };
}

std::vector<cli::Option> filter_options(Query& q) {
  return {
      {'j',
       "jobs",
       "IDS",
       "Only these jobs: 12, 12_3, 12_[1-4], separated by commas.",
       [&q](const std::string& value) { return set_jobs(q, value); },
       {"job"}},
      {'t',
       "states",
       "STATES",
       "Only jobs in these states (PD, R, CD and so on, or all). Default: those that have not "
       "ended.",
       [&q](const std::string& value) { return set_states(q.filter.mutable_states(), value); },
       {"state"}},
      {.letter = 'u',
       .name = "user",
       .argument = "USERS",
       .help = "Only jobs of these users, names or numbers.",
       .apply = set_texts(q.filter.mutable_users()),
       .aliases = {"users"},
       .variable = "AQUEUE_USERS"},
      {0, "me", "", "Only my own jobs.", cli::set_flag(q.me)},
      {0, "notme", "", "Only jobs of others.", cli::set_flag(q.not_me), {}, {"me"}},
      {'p',
       "partition",
       "NAMES",
       "Only jobs of these partitions.",
       set_texts(q.filter.mutable_partitions()),
       {"partitions"}},
      {.letter = 'n',
       .name = "name",
       .argument = "NAMES",
       .help = "Only jobs of these names.",
       .apply = set_texts(q.filter.mutable_names()),
       .aliases = {"names"},
       .variable = "AQUEUE_NAMES"},
      {'A',
       "account",
       "NAMES",
       "Only jobs of these accounts.",
       set_texts(q.filter.mutable_accounts()),
       {"accounts"}},
      {'q', "qos", "NAMES", "Only jobs of these qualities of service.",
       set_texts(q.filter.mutable_qos())},
      {'w',
       "nodelist",
       "NODES",
       "Only jobs on one of these nodes, such as n[1-3].",
       [&q](const std::string& value) -> Status {
         const auto names = expand_hostlist(value);
         if (!names) return fail(names.error());
         q.filter.clear_nodes();
         for (const std::string& name : *names) q.filter.add_nodes(name);
         return {};
       },
       {"nodes"}},
      {0, "running-over", "TIME",
       "Only running jobs that have run for at least so long (minutes, or D-HH:MM:SS).",
       set_seconds(&api::ListJobs::set_running_over, &q.filter)},
      {0, "running-under", "TIME", "Only running jobs that have run for at most so long.",
       set_seconds(&api::ListJobs::set_running_under, &q.filter)},
      {'a', "all", "", "Jobs of all partitions, which is what is shown anyway.",
       [](const std::string&) { return Status(); }},
  };
}

std::vector<cli::Option> output_options(Query& q) {
  return {
      {'r', "array", "", "One line for each task of an array, also those that wait.",
       [&q](const std::string&) -> Status {
         q.filter.set_expand_arrays(true);
         return {};
       }},
      {'l', "long", "", "Also the time limit, and states in full.",
       choose(q, [](Query& query, const std::string&) { query.shape = Query::Shape::full; })},
      {0, "start", "", "Pending jobs: when and where they are expected to start.",
       choose(q,
              [](Query& query, const std::string&) {
                query.shape = Query::Shape::start;
                query.start = true;
              })},
      {'o', "format", "FORMAT",
       "Columns to print, by letters; see FORMAT. Of -o, -O, -l and --start the last one stands.",
       choose(q, [](Query& query, const std::string& value) { query.format = value; })},
      {.letter = 'O',
       .name = "Format",
       .argument = "NAMES",
       .help =
           "Columns to print, by names: NAME[:[.]WIDTH[TEXT]], separated by commas; see FORMAT.",
       .apply =
           choose(q, [](Query& query, const std::string& value) { query.name_format = value; }),
       .variable = "AQUEUE_FORMAT2"},
      {'S', "sort", "KEYS",
       "Order: letters or names of columns, - before one for descending. Default: P,t,-p.",
       cli::set_text(q.sort)},
      {'h', "noheader", "", "No header.", cli::set_flag(q.no_header)},
      {'i', "iterate", "SECONDS", "Print the list again and again, every so many seconds.",
       [&q](const std::string& value) -> Status {
         const auto seconds = cli::parse_integer(value, 1, 86'400 * 365);
         if (!seconds) return fail(seconds.error());
         q.iterate = *seconds;
         return {};
       }},
      {0, "json", "", "Everything that is known, as JSON.", cli::set_flag(q.json)},
      {0,
       "why",
       "IDS",
       "Say in words, and with numbers, why these jobs wait; a paragraph for each.",
       [&q](const std::string& value) -> Status {
         q.why = true;
         return set_jobs(q, value);
       },
       {},
       {"json", "jobs"}},
      {'v', "verbose", "", "Say on standard error how the list was read.",
       cli::set_flag(q.verbose)},
  };
}

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AQUEUE_";
  for (auto& group : {filter_options(q), output_options(q)})
    table.options.insert(table.options.end(), group.begin(), group.end());
  table.unbuilt = {{'s', "steps"},
                   {0, "hide", false},
                   {'M', "clusters"},
                   {'R', "reservation"},
                   {'L', "licenses"},
                   {'P', "priority", false},
                   {0, "yaml", false},
                   {0, "only-job-state", false},
                   {0, "expand-patterns", false},
                   {0, "federation", false},
                   {0, "local", false},
                   {0, "sibling", false},
                   {0, "noconvert", false},
                   {0, "array-unique", false}};
  cli::add_common_options(table, q.common, 0);
  return table;
}

api::ListJobs filter_of(const Query& query, std::uint32_t uid) {
  api::ListJobs filter = query.filter;
  if (query.me) filter.add_users(std::to_string(uid));
  if (query.not_me) filter.add_not_users(std::to_string(uid));
  filter.set_skip_missing(filter.jobs_size() > 1);
  auto* states = filter.mutable_states();
  if (query.start) {
    states->Clear();
    *states->Add() = std::string(to_string(JobState::pending));
  } else if (states->empty()) {
    if (query.why) return filter;
    for (const JobState state : {JobState::pending, JobState::configuring, JobState::running,
                                 JobState::suspended, JobState::completing})
      *states->Add() = std::string(to_string(state));
  } else if (states->Get(0) == "all") {
    states->Clear();
  }
  return filter;
}

bool has_own_format(const Query& query) {
  return !query.format.empty() || !query.name_format.empty();
}

Result<std::vector<cli::Piece>> format_of(const Query& query) {
  if (!query.name_format.empty()) return cli::parse_name_format(query.name_format);
  if (!query.format.empty()) return cli::parse_format(query.format);
  switch (query.shape) {
    case Query::Shape::full: return cli::parse_format(kLong);
    case Query::Shape::start: return cli::parse_format(kStart);
    case Query::Shape::usual: break;
  }
  return cli::parse_format(kDefault);
}

std::string sort_of(const Query& query) {
  if (!query.sort.empty()) return query.sort;
  return query.start ? "S" : "P,t,-p";
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aqueue",
      .summary = "list the jobs that wait or run",
      .synopsis = {"[OPTIONS]", "--why=IDS"},
      .description =
          {"aqueue lists jobs that have not ended, first by partition, then by state and priority. "
           "The list always holds what was acknowledged before. A long one is read in pages: every "
           "line was true when its page was read, no job stands there twice, and --verbose says "
           "whether anything changed in between (with --json: \"moved\").",
           "Columns are as wide as what stands in them. On a terminal that is too narrow names are "
           "cut first, then reasons and the rest; a + marks what was cut. Ids are never cut. A "
           "width "
           "given in a format is kept to, except for ids."},
      .sections =
          {{"Format",
            [] {
              std::vector<std::string> texts = {
                  "For -o a format is text with fields %[.][#][WIDTH]LETTER; a dot aligns to the "
                  "right, # lets the column grow to what stands in it, and %% is a percent sign. "
                  "The "
                  "default is \"" +
                      std::string(kDefault) + "\", with --long \"" + kLong + "\", with --start \"" +
                      kStart + "\".",
                  "For -O it is NAME[:[.]WIDTH[TEXT]], separated by commas; TEXT is printed behind "
                  "the column. Without a width a column is as wide as what stands in it, and at "
                  "least 20. Names may be written in any case. The letters and names are:"};
              for (std::string& line : cli::describe_columns(columns()))
                texts.push_back(std::move(line));
              texts.push_back("Not supported yet, and refused by name: " +
                              cli::describe_unbuilt(columns().unbuilt) + ".");
              return texts;
            }()}},
      .examples = {{"aqueue --me -t R", "My running jobs."},
                   {"aqueue -h -j 12 -o '%T %r'", "State and reason of one job, for a script."},
                   {"aqueue --why 12", "Why job 12 does not start."}},
      .see_also = {"asub(1)", "acancel(1)", "aacct(1)", "actl(1)", "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::aqueue
