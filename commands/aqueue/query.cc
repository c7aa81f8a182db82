#include "aqueue/query.h"

#include "aqueue/columns.h"
#include "base/duration.h"
#include "base/printable.h"
#include "cli/options/filter_options.h"
#include "cli/output/index_list.h"
#include "cli/output/text.h"
#include "model/job/job.h"

namespace ares::aqueue {
namespace {

using TextList = google::protobuf::RepeatedPtrField<std::string>;
using Apply = std::function<Status(const std::string&)>;

constexpr const char* kDefault = "%#.i %#.P %#.j %#.u %#.t %#.M %#.D %#R";
constexpr const char* kLong = "%#.i %#.P %#.j %#.u %#.T %#.M %#.l %#.D %#R";
constexpr const char* kStates = "%#.i %T";
constexpr const char* kOrder = "P,t,-p,y";  // of equal priority the lower nice value starts first
constexpr const char* kStart = "%#.i %#.P %#.j %#.u %#.t %#.S %#.D %#Y %#R";

Status set_states(TextList* list, const std::string& value) {
  list->Clear();
  for (const std::string& item : cli::split(value, ',')) {
    if (cli::lower(item) == "all") {
      list->Clear();
      *list->Add() = "all";
      return {};
    }
    const std::string name = cli::upper(item);
    if (name == kSpecialExit || name == kSpecialExitCode) {
      *list->Add() = kSpecialExit;
      continue;
    }
    const auto state = parse_job_state(name);
    if (!state)
      return fail(ErrorCode::invalid_argument,
                  "Invalid job state specified: " + excerpt(item) +
                      "; states are PENDING (PD), RUNNING (R) and so on");
    *list->Add() = std::string(to_string(*state));
  }
  return {};
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
       "Only these jobs: 12, 12_3, 12_[1-4], separated by commas. Those that the controller has "
       "forgotten are looked up in accounting.",
       cli::set_job_ids(q.filter.mutable_jobs()),
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
       .apply = cli::set_names(q.filter.mutable_users()),
       .aliases = {"users"},
       .variable = "AQUEUE_USERS"},
      {0, "me", "", "Only my own jobs.", cli::set_flag(q.me)},
      {0, "notme", "", "Only jobs of others.", cli::set_flag(q.not_me), {}, {"me"}},
      {'p',
       "partition",
       "NAMES",
       "Only jobs of these partitions.",
       cli::set_names(q.filter.mutable_partitions()),
       {"partitions"}},
      {.letter = 'n',
       .name = "name",
       .argument = "NAMES",
       .help = "Only jobs of these names.",
       .apply = cli::set_names(q.filter.mutable_names()),
       .aliases = {"names"},
       .variable = "AQUEUE_NAMES"},
      {'A',
       "account",
       "NAMES",
       "Only jobs of these accounts.",
       cli::set_names(q.filter.mutable_accounts()),
       {"accounts"}},
      {'q', "qos", "NAMES", "Only jobs of these qualities of service.",
       cli::set_names(q.filter.mutable_qos())},
      {0, "wckey", "NAMES", "Only jobs for these wckeys.",
       cli::set_names(q.filter.mutable_wckeys())},
      {'w',
       "nodelist",
       "NODES",
       "Only jobs on one of these nodes, such as n[1-3].",
       cli::set_hosts(q.filter.mutable_nodes()),
       {"nodes"}},
      {0, "running-over", "TIME",
       "Only running jobs that have run for at least this long (minutes, or D-HH:MM:SS).",
       set_seconds(&api::ListJobs::set_running_over, &q.filter)},
      {0, "running-under", "TIME", "Only running jobs that have run for at most this long.",
       set_seconds(&api::ListJobs::set_running_under, &q.filter)},
      {'L',
       "licenses",
       "NAMES",
       "Only jobs that hold one of these licences or, while they wait, request one.",
       cli::set_names(q.filter.mutable_licenses()),
       {"license"}},
      {'R', "reservation", "NAMES", "Only jobs that ask for one of these reservations.",
       cli::set_names(q.filter.mutable_reservations())},
      {'a', "all", "", "Jobs of all partitions; this is the default.",
       [](const std::string&) { return Status(); }},
  };
}

std::vector<cli::Option> output_options(Query& q) {
  const auto expand = [&q](const std::string&) -> Status {
    q.filter.set_expand_arrays(true);
    return {};
  };
  return {
      {'r', "array", "", "One line for each task of an array, also those that wait.", expand},
      {0, "array-unique", "",
       "One line for each task of an array that waits, the same as --array: tasks that do not wait "
       "always have their own lines.",
       expand},
      {'P', "priority", "",
       "A job that waits for several partitions has a line for each; sorted by priority, "
       "partitions of a higher tier come first.",
       cli::set_flag(q.each_partition)},
      {'l', "long", "", "Also the time limit, and states in full.",
       cli::choose_columns(q.listing, [&q] { q.shape = Query::Shape::full; })},
      {0, "start", "", "Pending jobs: when and where they are expected to start.",
       cli::choose_columns(q.listing,
                           [&q] {
                             q.shape = Query::Shape::start;
                             q.start = true;
                           })},
      {0, "only-job-state", "", "Ids and states, and nothing else.",
       cli::choose_columns(q.listing, [&q] { q.shape = Query::Shape::states; })},
      {0,
       "why",
       "IDS",
       "Say why these jobs wait: every reason with its numbers, how many come before them, when "
       "they are expected to start, their priority, and with which changes they would start now.",
       [&q](const std::string& value) -> Status {
         q.why = true;
         return cli::set_job_ids(q.filter.mutable_jobs())(value);
       },
       {},
       {"jobs"}},
      {'s',
       "steps",
       "[IDS]",
       "The steps that run, in place of jobs, as their nodes told with the last heartbeats: of all "
       "jobs, of those that the other options name, or these: -s12.0, --steps=12,13.batch.",
       [&q](const std::string& value) -> Status {
         q.steps = true;
         if (value.empty()) return {};
         auto ids = cli::parse_step_ids(value);
         if (!ids) return fail(ids.error());
         q.step_ids = std::move(*ids);
         return {};
       },
       {"step"},
       {"why"}},
      {.name = "watch",
       .argument = "",
       .help = "Go on, and show jobs when they change, until interrupted; see WATCHING.",
       .apply = cli::set_flag(q.watch),
       .excludes = {"iterate", "why", "steps", "yaml"},
       .environment = false},
      {'v', "verbose", "", "Say on standard error how the list was read.",
       cli::set_flag(q.verbose)},
  };
}

}  // namespace

namespace {

std::pair<std::string, std::vector<std::string>> watching_section() {
  return {
      "Watching",
      {"With --watch the controller sends each change of a listed job once it is stored; nothing "
       "is "
       "asked again and again. A job that ends, or that the options select no more, is shown "
       "once more with its new state. On a terminal aqueue keeps the listing up to date on the "
       "whole "
       "screen, in the usual order and as many lines as fit; jobs that ended stay for ten seconds. "
       "The last listing is left on the terminal.",
       "Otherwise, or if TERM is dumb, it prints the listing and then a line for each job when a "
       "column "
       "that is shown has changed, except for times that pass. Of changes that follow each other "
       "fast, "
       "or while the reader of a pipe is slow, only the newest state is shown. With --json every "
       "job "
       "is one object on a line of its own.",
       "If the controller restarts or the connection breaks, aqueue says so on standard error, "
       "connects "
       "again, and shows what has changed meanwhile. It ends with exit status 0 at an interrupt "
       "(Ctrl-C) "
       "or SIGTERM. A user can have 32 streams at once, those of aacct --follow included."}};
}

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AQUEUE_";
  for (auto& group : {filter_options(q), output_options(q)})
    table.options.insert(table.options.end(), group.begin(), group.end());
  cli::add_listing_options(table, q.listing,
                           " Of -o, -O, -l, --start and --only-job-state the last one "
                           "stands.",
                           kOrder);
  table.unsupported = {{0, "hide", false},       {'M', "clusters"},   {0, "expand-patterns", false},
                       {0, "federation", false}, {0, "local", false}, {0, "sibling", false},
                       {0, "noconvert", false}};
  cli::add_common_options(table, q.common, 0);
  return table;
}

api::ListJobs filter_of(const Query& query, std::uint32_t uid) {
  api::ListJobs filter = query.filter;
  if (query.me) filter.add_users(std::to_string(uid));
  if (query.not_me) filter.add_not_users(std::to_string(uid));
  filter.set_skip_missing(filter.jobs_size() > 0);  // accounting may have them
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

Result<std::vector<cli::FormatItem>> format_of(const Query& query) {
  switch (query.shape) {
    case Query::Shape::full: return cli::format_items_of(query.listing, kLong);
    case Query::Shape::start: return cli::format_items_of(query.listing, kStart);
    case Query::Shape::states: return cli::format_items_of(query.listing, kStates);
    case Query::Shape::usual: break;
  }
  return cli::format_items_of(query.listing, kDefault);
}

std::string sort_of(const Query& query) {
  if (!query.listing.sort.empty()) return query.listing.sort;
  return query.start ? "S" : std::string(kOrder) + ",i,K";  // lines of an array by their tasks
}

const cli::Manual& manual() {
  static const cli::Manual text{
      .name = "aqueue",
      .summary = "list the jobs that wait or run",
      .synopsis = {"[OPTIONS]", "--why=IDS"},
      .description =
          {"aqueue lists jobs that have not ended, first by partition, then by state and priority. "
           "The list contains every job that was acknowledged before. A long list is read in "
           "pages: every line was true when its page was read, no job is listed twice, and "
           "--verbose says whether anything changed in between (with --json: \"moved\"). In JSON "
           "\"job_id\" is the job's own number, as in Slurm.",
           "Columns are as wide as their contents. On a terminal that is too narrow lists of array "
           "indices and names are cut first, then reasons and the rest; a + marks what was cut. "
           "The number of a job is never cut. A width given in a format is exact, except for ids.",
           cli::describe_index_lists(),
           "A job that is named and that the controller has forgotten (policy.min_job_age) is "
           "listed "
           "from accounting as other jobs that have ended are: with -t all, or a state that it "
           "ended "
           "in. Without -t the list has only jobs that have not ended, and a line on standard "
           "error "
           "says how the job ended. Columns that accounting does not record are empty or 0 then.",
           "--why runs the scheduler's own pass up to the job's turn and tries changed jobs there: "
           "less time, memory, CPUs, tasks, nodes, GPUs or licences, another type of GPU, more "
           "switches, smaller segments, without a constraint, another partition; if none is enough "
           "alone, pairs of them. Of each kind the smallest change is printed, and only if a "
           "complete pass over the queue with the changed job starts it. That holds for the job in "
           "its place, as \"actl update\" changes it, and as long as nothing else happens. The "
           "work is bounded; if the search was cut short, the output says so. asub --test-only and "
           "\"actl show job\" print the same.",
           "An expected start moves later only if jobs that come before are submitted, changed or "
           "released, or if nodes fail. For a job with --switches or --segment an even share of "
           "each node is reserved, rounded up."},
      .sections = {cli::format_section(quote(kDefault) + ", with --long " + quote(kLong) +
                                           ", with --start " + quote(kStart),
                                       cli::describe_columns(columns()), columns().unsupported),
                   watching_section()},
      .examples = {{"aqueue --me -t R", "My running jobs."},
                   {"aqueue --watch --me", "My jobs, and each change of one of them."},
                   {"aqueue -h -j 12 -o '%T %r'", "State and reason of one job, for a script."},
                   {"aqueue -s -j 12", "The steps of job 12 that run."},
                   {"aqueue --why 12", "Why job 12 does not start."}},
      .see_also = {"asub(1)", "acancel(1)", "aacct(1)", "actl(1)", "ares-reasons(7)",
                   "ares-job-states(7)"}};
  return text;
}

}  // namespace ares::aqueue
