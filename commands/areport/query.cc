#include "areport/query.h"

#include <algorithm>
#include <functional>

#include "areport/names.h"
#include "base/printable.h"
#include "base/timespec.h"

namespace ares::areport {
namespace {

// A word of the command line: "start=TIME", or "tree" without a value.
struct Word {
  std::string name, argument, help;
  std::function<Status(const std::string&, Time now, Query&)> apply;
  bool (*fits)(const ReportKind&) = nullptr;  // the reports that it applies to; null: all
};

bool of_jobs(const ReportKind& report) {
  return report.kind == api::Report::USAGE || report.kind == api::Report::SIZES ||
         report.kind == api::Report::EFFICIENCY;
}
bool of_sizes(const ReportKind& report) {
  return report.kind == api::Report::SIZES;
}
bool of_reservations(const ReportKind& report) {
  return report.kind == api::Report::RESERVATIONS;
}
bool of_top(const ReportKind& report) {
  return report.lines == top_lines;
}
bool of_tree(const ReportKind& report) {
  return report.lines == account_lines || report.lines == cost_lines;
}

using Names = google::protobuf::RepeatedPtrField<std::string>* (api::Report::*)();

std::function<Status(const std::string&, Time, Query&)> names_into(Names field) {
  return [field](const std::string& value, Time, Query& query) -> Status {
    for (const std::string& name : cli::split(value, ','))
      if (!name.empty()) *(query.filter.*field)()->Add() = name;
    return {};
  };
}

std::function<Status(const std::string&, Time, Query&)> time_into(
    std::optional<Time> Query::*field) {
  return [field](const std::string& value, Time now, Query& query) -> Status {
    const auto at = parse_timespec(value, now, TimeOfDay::today);
    if (!at) return fail(at.error());
    query.*field = *at;
    return {};
  };
}

std::function<Status(const std::string&, Time, Query&)> flag_into(bool& (*of)(Query&)) {
  return [of](const std::string&, Time, Query& query) -> Status {
    of(query) = true;
    return {};
  };
}

Status read_sizes(const std::string& value, Time, Query& query) {
  query.filter.clear_sizes();
  for (const std::string& item : cli::split(value, ',')) {
    const auto size = cli::parse_integer(item, 1, 1'000'000'000);
    if (!size) return fail(size.error());
    if (query.filter.sizes_size() > 0 &&
        static_cast<std::uint64_t>(*size) <= query.filter.sizes(query.filter.sizes_size() - 1))
      return fail(ErrorCode::invalid_argument, "sizes must ascend");
    query.filter.add_sizes(static_cast<std::uint64_t>(*size));
  }
  return {};
}

const std::vector<Word>& words_table() {
  static const std::vector<Word> table = {
      {"start", "TIME", "Begin of the report's time.", time_into(&Query::start)},
      {"end", "TIME", "Its end, not included.", time_into(&Query::end)},
      {"accounts", "NAMES", "Only what these accounts held themselves.",
       names_into(&api::Report::mutable_accounts), of_jobs},
      {"users", "NAMES", "Only what these users held.", names_into(&api::Report::mutable_users),
       of_jobs},
      {"qos", "NAMES", "Only what was held with these qualities of service.",
       names_into(&api::Report::mutable_qos), of_jobs},
      {"wckeys", "NAMES", "Only what was held by jobs for these wckeys.",
       names_into(&api::Report::mutable_wckeys), of_jobs},
      {"names", "NAMES", "Only these reservations.", names_into(&api::Report::mutable_reservations),
       of_reservations},
      {"format", "FIELDS", "These fields, NAME[%WIDTH] separated by commas; see FIELDS.",
       [](const std::string& value, Time, Query& query) -> Status {
         query.format = value;
         return {};
       }},
      {"tree", "", "Accounts stand in by how far they are below the root.",
       flag_into([](Query& q) -> bool& { return q.tree; }), of_tree},
      {"topcount", "N", "So many users, in place of 10.",
       [](const std::string& value, Time, Query& query) -> Status {
         const auto count = cli::parse_integer(value, 1, 1'000'000);
         if (!count) return fail(count.error());
         query.line_options.top = static_cast<std::size_t>(*count);
         return {};
       },
       of_top},
      {"group", "", "One line for each top user, with all accounts.",
       flag_into([](Query& q) -> bool& { return q.line_options.group; }), of_top},
      {"grouping", "CPUS",
       "Job sizes from which on the next column counts. Default: 50,250,500,1000.", read_sizes,
       of_sizes},
      {"printjobcount", "", "How many jobs of each size, in place of what they held.",
       flag_into([](Query& q) -> bool& { return q.job_count; }), of_sizes},
  };
  return table;
}

constexpr std::pair<std::string_view, api::Rollup::What> kRollups[] = {
    {"show", api::Rollup::SHOW}, {"now", api::Rollup::NEXT}, {"again", api::Rollup::AGAIN}};

Status read_word(const std::string& word, Time now, Query& query) {
  const std::size_t equals = word.find('=');
  const auto row = find_name(
      word.substr(0, equals), words_table(), [](const Word& w) { return w.name; }, "word");
  if (!row) return fail(row.error());
  const bool has_value = equals != std::string::npos;
  if (has_value == (*row)->argument.empty())
    return fail(ErrorCode::invalid_argument,
                quote(word) + ": " +
                    (has_value ? (*row)->name + " takes no value"
                               : "write " + (*row)->name + "=" + (*row)->argument));
  if ((*row)->fits && query.report && !(*row)->fits(*query.report))
    return fail(ErrorCode::invalid_argument, (*row)->name + " does not go with " +
                                                 query.report->object + " " + query.report->name);
  Status done = (*row)->apply(has_value ? word.substr(equals + 1) : "", now, query);
  if (!done) return fail(done.error().code, (*row)->name + ": " + done.error().message);
  return {};
}

// The start of the day of `at` in the process's time zone.
Result<Time> day_of(Time at) {
  return parse_timespec("today", at, TimeOfDay::today);
}

std::string tres_list(const Query& query) {
  std::string text;
  for (const std::string& name : query.filter.tres()) text += (text.empty() ? "" : ",") + name;
  return text.empty() ? "all TRES" : text;
}

std::function<Status(const std::string&)> set_layout(Layout& layout, Layout value) {
  return [&layout, value](const std::string&) -> Status {
    layout = value;
    return {};
  };
}

}  // namespace

cli::OptionTable options(Query& q) {
  cli::OptionTable table;
  table.environment_prefix = "AREPORT_";
  table.options = {
      {'t', "unit", "UNIT",
       "How TRES-seconds are printed: Seconds, Minutes (the default), Hours, Percent, SecPer, "
       "MinPer, HourPer; the last three with per cent.",
       [&q](const std::string& value) -> Status {
         const auto unit = parse_unit(value);
         if (!unit) return fail(unit.error());
         q.unit = *unit;
         return {};
       }},
      {'T', "tres", "NAMES",
       "What is counted: cpu (the default), mem, node, gres/gpu and so on, or ALL.",
       cli::set_list(q.tres)},
      {'n', "noheader", "", "No heading.", cli::set_flag(q.no_header)},
      {'p',
       "parsable",
       "",
       "Fields with a | behind each.",
       set_layout(q.layout, Layout::parsable),
       {},
       {"parsable2", "csv", "json", "yaml"}},
      {'P',
       "parsable2",
       "",
       "Fields with a | between them.",
       set_layout(q.layout, Layout::parsable2),
       {},
       {"csv", "json", "yaml"}},
      {0,
       "csv",
       "",
       "Fields with commas between them, quoted where they have to be.",
       set_layout(q.layout, Layout::csv),
       {},
       {"json", "yaml"}},
      {0, "json", "",
       "JSON; amounts are TRES-seconds whatever the unit, times microseconds since 1970.",
       set_layout(q.layout, Layout::json)},
      {0,
       "yaml",
       "",
       "The same document as with --json, as YAML.",
       set_layout(q.layout, Layout::yaml),
       {},
       {"json"}},
      {0, "delimiter", "TEXT", "Between fields, in place of |.", cli::set_text(q.delimiter)},
  };
  cli::add_common_options(table, q.common);
  return table;
}

Status read_words(const cli::Words& words, Time now, Query& query) {
  if (words.size() < 2)
    return fail(ErrorCode::invalid_argument,
                "name a report, as in \"areport cluster utilization\"; areport --help lists them");
  std::size_t at = 2;
  if (std::string("rollup").starts_with(cli::lower(words[0])) && words[0].size() > 1) {
    const auto action = find_name(
        words[1], kRollups, [](auto& row) { return row.first; }, "word after rollup");
    if (!action) return fail(action.error());
    query.rollup = (*action)->second;
  } else {
    const auto found = find_report(words[0], words[1]);
    if (!found) return fail(found.error());
    query.report = *found;
  }
  for (; at < words.size(); ++at)
    if (Status read = read_word(words[at], now, query); !read) return read;
  return {};
}

Status complete(Query& query, Time now) {
  const auto today = day_of(now);
  if (!today) return fail(today.error());
  // The default is the whole day before; a start alone means from then up to now.
  if (!query.end) query.end = query.start ? now : *today;
  if (!query.start) {
    const auto before = day_of(*query.end - std::chrono::hours(1));
    if (!before) return fail(before.error());
    query.start = *before;
  }
  if (*query.start >= *query.end)
    return fail(ErrorCode::invalid_argument,
                "the report's time ends before it begins: " + format_local_time(*query.start) +
                    " to " + format_local_time(*query.end));
  query.filter.set_start(query.start->time_since_epoch().count());
  query.filter.set_end(query.end->time_since_epoch().count());
  if (!query.unit) query.unit = &units()[1];  // Minutes
  if (!query.report) return {};
  query.filter.set_kind(query.report->kind);
  query.filter.set_by_account(query.report->by_account);
  query.filter.set_by_user(query.report->by_user);
  query.filter.set_by_qos(query.report->by_qos);
  query.filter.set_by_wckey(query.report->by_wckey);
  query.filter.set_with_capacity(query.report->with_capacity);
  if (query.filter.sizes().empty())
    for (const std::uint64_t size : {50, 250, 500, 1000}) query.filter.add_sizes(size);
  query.line_options.size_count = static_cast<std::size_t>(query.filter.sizes_size()) + 1;
  // Efficiency has only cpu and mem; costs are of everything that has a price.
  const bool one =
      query.report->kind != api::Report::EFFICIENCY && query.report->lines != cost_lines;
  if (query.tres.empty() && one) query.filter.add_tres("cpu");
  for (const std::string& name : query.tres)
    if (cli::upper(name) != "ALL") query.filter.add_tres(name);
  if (query.format.empty()) {
    query.format = query.report->fields;
    if (!query.tres.empty() && one && query.format.find("TRESName") == std::string::npos)
      query.format.insert(query.format.find(',') + 1, "TRESName,");
  }
  return {};
}

Result<ReportTable> make_table(const Query& query, const api::Reported& answer) {
  const std::vector<std::uint64_t> sizes(query.filter.sizes().begin(), query.filter.sizes().end());
  const auto chosen = parse_fields(query.format, sizes, query.job_count);
  if (!chosen) return fail(chosen.error());
  ReportTable report_table;
  const Time start{Duration(answer.start())}, end{Duration(answer.end())};
  const auto seconds = std::chrono::duration_cast<Seconds>(end - start).count();
  report_table.heading = {
      query.report->title + " " + format_local_time(start) + " - " + format_local_time(end) + " (" +
          std::to_string(seconds) + " secs)",
      "Usage reported in TRES " + std::string(query.unit->title) + ", of " + tres_list(query)};
  if (query.report->lines == cost_lines && answer.prices().empty() && answer.now() != 0)
    return fail(ErrorCode::failed_precondition,
                "no resource has a price: set prices in ares.yaml, as in prices: {cpu: 0.02}");
  report_table.facts = {{"report", query.report->object + " " + query.report->name},
                        {"cluster", answer.cluster()},
                        {"start", answer.start()},
                        {"end", answer.end()},
                        {"now", answer.now()}};
  for (const SelectedField& one : *chosen)
    report_table.columns.push_back({one.field.name, one.field.key, one.field.left, one.width});
  const Setting setting{answer.cluster(), query.unit, query.tree};
  for (const Line& line : query.report->lines(answer, query.line_options)) {
    std::vector<Cell> row;
    for (const SelectedField& one : *chosen) row.push_back(one.field.cell(line, setting));
    report_table.rows.push_back(std::move(row));
  }
  return report_table;
}

const cli::Manual& manual() {
  static const cli::Manual text = [] {
    cli::Manual m;
    m.name = "areport";
    m.summary = "report what the cluster was used for";
    m.synopsis = {"[OPTION]... KIND REPORT [WORD[=VALUE]]...",
                  "[OPTION]... rollup show|now|again [start=TIME] [end=TIME]"};
    m.description = {
        "Prints sums over a time: the capacity of the cluster, how it was used, and how much each "
        "user and account used. An attempt of a job counts from the allocation of its resources "
        "until their release; running jobs count up to now.",
        "Names of reports, words, units and fields may be in any case, and abbreviated as long as "
        "they are unique: areport cl util -t h.",
        "Times count in whole seconds: what begins or ends within a second does so at its "
        "beginning. So the columns of a report add up, and days add up to their month."};
    std::vector<std::string> kinds, word_lines, field_lines;
    for (const ReportKind& report : reports())
      kinds.push_back(report.object + " " + report.name + ": " + report.help);
    kinds.push_back("rollup show, rollup now, rollup again: see SUMS.");
    for (const Word& word : words_table())
      word_lines.push_back(word.name + (word.argument.empty() ? "" : "=" + word.argument) + ": " +
                           word.help);
    for (const Field& field : fields()) field_lines.push_back(field.name + ": " + field.help);
    m.sections = {
        {"Reports", kinds},
        {"Words", word_lines},
        {"Fields", field_lines},
        {"Time of a report",
         {"Without start and end the day before today; with a start alone up to now; with an end "
          "alone the day before it. Times are written as now, now-2hours, today, 09:30, 2030-01-20 "
          "or 2030-01-20T12:34, and are in the time zone of the user: the day on which clocks "
          "change has 23 or 25 hours."}},
        {"Sums",
         {"The controller sums accounting up by hour, day and month soon after each hour. Reports "
          "read what is not summed up from the records, so they are always current. rollup show "
          "tells how far the sums reach; rollup now sums up all complete hours; rollup again "
          "start=TIME end=TIME recomputes the sums of that time, after records were loaded or "
          "changed by hand. The latter two are for operators. None of them delays jobs."}}};
    m.examples = {
        {"areport cluster utilization", "Yesterday, in CPU minutes."},
        {"areport -t hourper cluster utilization start=2030-01-01 end=2030-02-01",
         "January in CPU hours and per cent."},
        {"areport -T gres/gpu -t h cluster accountutilizationbyuser start=2030-01-01 tree",
         "GPU hours of each account and user this year."},
        {"areport -nP user top topcount=3 start=now-30days",
         "The three users with the highest usage in 30 days."}};
    m.see_also = {"aacct(1)", "ares-views(5)"};
    return m;
  }();
  return text;
}

}  // namespace ares::areport
