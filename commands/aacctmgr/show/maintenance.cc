#include "aacctmgr/show/maintenance.h"

#include <chrono>
#include <cstdio>
#include <optional>

#include "aacctmgr/show/rows.h"
#include "base/printable.h"
#include "base/timespec.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/output/text.h"

namespace ares::aacctmgr {
namespace {

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// One row per item of `items`; `member` is the pointer in Row to set.
template <class Items, class Member>
std::string table(const Context& context, const Items& items, Member member,
                  const std::vector<SelectedField>& chosen) {
  static const Snapshot nothing;
  std::vector<Row> rows;
  for (const auto& item : items) {
    rows.push_back({});
    rows.back().snapshot = &nothing;
    rows.back().*member = &item;
  }
  const Flags& flags = context.flags;
  return print(rows, chosen, {flags.no_header, flags.parsable, flags.parsable2});
}

// The single time given for start= or end=; 0 if there is none.
Result<std::int64_t> time_of(const Where& where, Selector selector) {
  const std::vector<std::string>& given = where.names(selector);
  if (given.empty()) return 0;
  const Time now = std::chrono::floor<Duration>(std::chrono::system_clock::now());
  const auto at = parse_timespec(given.back(), now, TimeOfDay::today);
  if (!at) return fail(at.error());
  return at->time_since_epoch().count();
}

Result<api::ListTransactions> transactions_filter(const Where& where) {
  api::ListTransactions filter;
  const auto start = time_of(where, Selector::start), end = time_of(where, Selector::end);
  if (!start) return fail(start.error());
  if (!end) return fail(end.error());
  filter.set_start(*start);
  filter.set_end(*end);
  for (const std::string& name : where.names(Selector::user)) filter.add_users(name);
  for (const std::string& name : where.names(Selector::action)) {
    if (cli::lower(name) == "all")
      filter.set_all_actions(true);
    else
      filter.add_actions(cli::lower(name));
  }
  if (filter.all_actions()) filter.clear_actions();
  return filter;
}

// First moment of a month such as "2025-01", UTC.
Result<std::int64_t> month_begin(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  char rest = 0;
  const int read = std::sscanf(text.c_str(), "%4d-%2u%c", &year, &month, &rest);
  const std::chrono::year_month_day day{std::chrono::year(year), std::chrono::month(month),
                                        std::chrono::day(1)};
  if (read != 2 || !day.ok())
    return invalid("before=" + text + ": expected a month, such as before=2025-01");
  return Time(std::chrono::sys_days(day)).time_since_epoch().count();
}

Result<int> show_archive(Context& context) {
  api::Request request;
  request.mutable_archive();
  const auto answer = context.call(request);
  if (!answer) return fail(answer.error());
  const api::Archived& archived = answer->archived();
  if (context.flags.document) {
    cli::print_document(context.flags.document, cli::to_json(archived));
    return 0;
  }
  const auto chosen = parse_fields(context.flags.format.empty() ? "Month,Rows,Archived,Loaded,File"
                                                                : context.flags.format);
  if (!chosen) return fail(chosen.error());
  put(table(context, archived.files(), &Row::file, *chosen));
  if (archived.busy() && !context.flags.quiet)
    std::fprintf(stderr, "aacctmgr: under way: %s\n", printable(archived.text()).c_str());
  return 0;
}

// Starts the archiving and waits until it ends.
Result<int> run_archive(Context& context, const api::Archive& what) {
  if (context.flags.read_only) return invalid("nothing was done: --readonly was given");
  if (context.flags.dry_run)
    return invalid("an archive is not written or loaded for trial: --dry-run has no place here");
  api::Request request;
  *request.mutable_archive() = what;
  auto answer = context.call(request, cli::RetryPolicy::change);
  if (!answer) return fail(answer.error());
  const std::uint64_t work = answer->archived().work();
  while (answer->archived().busy() && answer->archived().work() == work) {
    api::Request again;
    again.mutable_archive();
    // The controller answers when the state changes, or after a short time.
    answer = context.call(std::move(again));
    if (!answer) return fail(answer.error());
  }
  const api::Archived& done = answer->archived();
  if (done.work() != work)
    return fail(ErrorCode::unavailable,
                "the controller was started again meanwhile: the same command does the rest");
  if (done.failed()) return fail(ErrorCode::failed_precondition, done.text());
  if (!context.flags.quiet) std::printf("%s\n", printable(done.text()).c_str());
  return 0;
}

}  // namespace

Result<int> show_transactions(Context& context, const Where& where,
                              const std::vector<SelectedField>& chosen) {
  auto filter = transactions_filter(where);
  if (!filter) return fail(filter.error());
  api::Transactions all;
  for (;;) {
    api::Request request;
    *request.mutable_list_transactions() = *filter;
    auto answer = context.call(std::move(request));
    if (!answer) return fail(answer.error());
    api::Transactions& page = *answer->mutable_transactions();
    const bool more = page.more() && page.rows_size() > 0;
    if (more) filter->set_after(page.rows(page.rows_size() - 1).id());
    for (auto& row : *page.mutable_rows()) *all.add_rows() = std::move(row);
    if (!more) break;
  }
  put(context.flags.document ? cli::in_form(context.flags.document, cli::to_json(all))
                             : table(context, all.rows(), &Row::change, chosen));
  return 0;
}

Result<int> show_runaways(Context& context, const std::vector<SelectedField>& chosen) {
  api::Request request;
  request.mutable_runaways();
  const auto answer = context.call(request);
  if (!answer) return fail(answer.error());
  const api::RunawayJobs& found = answer->runaway_jobs();
  const Flags& flags = context.flags;
  if (flags.document) {
    cli::print_document(flags.document, cli::to_json(found));
  } else if (found.rows().empty()) {
    if (!flags.quiet)
      std::puts("No runaway jobs: the controller knows of all that accounting has.");
  } else {
    put(table(context, found.rows(), &Row::runaway, chosen));
  }
  if (found.rows().empty() || flags.read_only || flags.dry_run ||
      (flags.document && !flags.immediate))
    return 0;
  if (!flags.immediate)
    std::puts("They are to be set ended, as of the last time that is known of each.");
  const auto wanted = context.confirm();
  if (!wanted) return fail(wanted.error());
  if (!*wanted) {
    std::puts("Nothing was changed.");
    return cli::kExitRefused;
  }
  api::Request repair;
  for (const api::RunawayJobs::Row& row : found.rows()) {
    auto& one = *repair.mutable_runaways()->add_end();
    *one.mutable_job() = row.job();
    one.set_attempt(row.attempt());
  }
  const auto done = context.call(std::move(repair), cli::RetryPolicy::change);
  if (!done) return fail(done.error());
  if (!flags.quiet && !flags.document)
    std::printf("Done: %llu set ended\n",
                static_cast<unsigned long long>(done->runaway_jobs().ended()));
  return 0;
}

Result<int> archive(Context& context, const Words& operands) {
  const std::string verb = operands.empty() ? "show" : cli::lower(operands[0]);
  if (verb == "show" && operands.size() <= 1) return show_archive(context);
  api::Archive what;
  if (verb == "dump") {
    what.set_what(api::Archive::DUMP);
    if (operands.size() > 2 || (operands.size() == 2 && !operands[1].starts_with("before=")))
      return invalid("archive dump takes before=YYYY-MM and nothing else");
    if (operands.size() == 2) {
      const auto before = month_begin(operands[1].substr(7));
      if (!before) return fail(before.error());
      what.set_before(*before);
    }
    if (!context.flags.immediate) {
      std::printf("Attempts of whole months %s move to files on the controller's machine.\n",
                  operands.size() == 2 ? ("before " + operands[1].substr(7)).c_str()
                                       : "as old as archive.after says");
      const auto wanted = context.confirm();
      if (!wanted) return fail(wanted.error());
      if (!*wanted) {
        std::puts("Nothing was changed.");
        return cli::kExitRefused;
      }
    }
    return run_archive(context, what);
  }
  if (verb == "load") {
    if (operands.size() != 2)
      return invalid("archive load takes one file; archive show lists them");
    what.set_what(api::Archive::LOAD);
    what.set_path(operands[1].starts_with("file=") ? operands[1].substr(5) : operands[1]);
    return run_archive(context, what);
  }
  return invalid("archive " + quote(verb) + "? show, dump or load");
}

}  // namespace ares::aacctmgr
